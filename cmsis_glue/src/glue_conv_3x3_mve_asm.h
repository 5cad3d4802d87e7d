/*
 * What glue_conv_3x3_mve() and glue_conv_3x3_s4_mve() share: all but how weights are loaded.
 *
 * Four neighbouring outputs by two channels at a time: eight sums, in the even registers, the only ones that VMLADAV
 * adds to. Six columns of a line serve the three taps of all four outputs, so that 24 products need 6 codes and 6
 * weights. Tiles run down the image: each needs one new line of six columns, copied to the scratch memory (16 channels,
 * then the next 16), with the fill where it leaves the image. The last tile of a line may overlap the one before.
 * In place, the column that the next tiles read again is kept behind the lines.
 *
 *   r0 r2 r4 r6     sums of the first channel      r1 r3 r5  lines, in the scratch memory
 *   r8 r10 r12 lr   sums of the second channel     r7        stream
 *   q0 - q5         weights of a line              r9        output
 *   q6              codes                          r11       steps of 16 channels left
 *   q7              where the outputs go, from r9
 *
 * x is read by bytes: it needs no alignment. Stream and scratch memory are 16-byte aligned and read by words.
 *
 * A file that includes it defines CONV, the name of the function; WORDS, of the weights of a pair of channels and step;
 * and the macros next_weights (a tap of both channels) and separate (from sums of products, in q0 and q1, to those of
 * channels).
 */

#ifndef GLUE_CONV_3X3_MVE_ASM_H
#define GLUE_CONV_3X3_MVE_ASM_H

/* struct glue_conv_3x3_mve_layer */
#define LAYER_STREAM 0
#define LAYER_STEPS 4
#define LAYER_CHANNELS 8
#define LAYER_FILL 12
#define LAYER_X_HEIGHT 16
#define LAYER_X_WIDTH 20
#define LAYER_Y_HEIGHT 24
#define LAYER_Y_WIDTH 28
#define LAYER_TOP 32
#define LAYER_LEFT 36
#define LAYER_IN_PLACE 40

/* the frame: the first five words are loaded together, and LINE0 to HEIGHT */
#define END 0         /* of the stream */
#define LINE0 4       /* the oldest line */
#define LINE1 8
#define LINE2 12      /* the newest */
#define STEPS 16
#define X 20          /* first column inside the image of the next line */
#define X_PITCH 24    /* to the line below it */
#define DEPTH 28      /* bytes from a column to the next */
#define ROW 32        /* number of the next line in the image */
#define BEFORE 36     /* columns on the left of the image, inside, on the right */
#define INSIDE 40
#define AFTER 44
#define FILL 48
#define HEIGHT 52     /* of the image */
#define FIRST 56      /* ROW after the first line that completes a tile, and after the last one */
#define LAST 60
#define STREAM 64
#define CHANNELS 68
#define Y 72          /* output of the tile */
#define Y_PITCH 76    /* to the next tile */
#define COLUMN 80     /* first output of the tile in its line */
#define LAYER 84
#define X0 88
#define Y0 92
#define KEPT 100      /* of every line, the column before the tile that the tile before has overwritten; 0: none */
#define KEPT_NEXT 104 /* of the next line */
#define FRAME 108

    /* three taps of a kernel row on four outputs */
    .macro taps line
    next_weights q0, q1
    vldrw.u32 q6, [\line]
    vmladava.s8 r0, q6, q0
    vmladava.s8 r8, q6, q1
    next_weights q2, q3
    vldrw.u32 q6, [\line, #16]
    vmladava.s8 r2, q6, q0
    vmladava.s8 r10, q6, q1
    vmladava.s8 r0, q6, q2
    vmladava.s8 r8, q6, q3
    next_weights q4, q5
    vldrw.u32 q6, [\line, #32]
    vmladava.s8 r4, q6, q0
    vmladava.s8 r12, q6, q1
    vmladava.s8 r2, q6, q2
    vmladava.s8 r10, q6, q3
    vmladava.s8 r0, q6, q4
    vmladava.s8 r8, q6, q5
    vldrw.u32 q6, [\line, #48]
    vmladava.s8 r6, q6, q0
    vmladava.s8 lr, q6, q1
    vmladava.s8 r4, q6, q2
    vmladava.s8 r12, q6, q3
    vmladava.s8 r2, q6, q4
    vmladava.s8 r10, q6, q5
    vldrw.u32 q6, [\line, #64]
    vmladava.s8 r6, q6, q2
    vmladava.s8 lr, q6, q3
    vmladava.s8 r4, q6, q4
    vmladava.s8 r12, q6, q5
    vldrw.u32 q6, [\line, #80]
    vmladava.s8 r6, q6, q4
    vmladava.s8 lr, q6, q5
    .endm

    .section .text.CONV, "ax", %progbits
    .balign 4
    .global CONV
    .type CONV, %function
    .thumb_func
CONV:
    push {r4-r11, lr}
    vpush {d8-d15}
    sub sp, #FRAME
    str r0, [sp, #LAYER]
    strd r1, r2, [sp, #X0]
    ldm r0, {r4-r11}                    /* stream, steps, channels, fill, x height, x width, y height, y width */
    strd r4, r6, [sp, #STREAM]          /* and CHANNELS */
    strd r7, r8, [sp, #FILL]            /* and HEIGHT */
    str r5, [sp, #STEPS]

    /* (8 + WORDS * steps + 6) words for every pair of channels */
    movs r12, #WORDS
    mla r12, r12, r5, r12
    sub r12, r12, #(WORDS - 14)
    lsr r1, r6, #1
    mul r12, r12, r1
    add r12, r4, r12, lsl #2
    str r12, [sp, #END]

    lsl r1, r5, #4
    str r1, [sp, #DEPTH]
    mul r1, r1, r9
    str r1, [sp, #X_PITCH]
    mul r1, r6, r11
    str r1, [sp, #Y_PITCH]
    ldr r1, [r0, #LAYER_TOP]
    rsb r1, r1, #3
    add r2, r10, r1
    subs r2, #1
    strd r1, r2, [sp, #FIRST]           /* and LAST */

    movs r1, #96
    mul r1, r1, r5
    str r3, [sp, #LINE0]
    add r3, r3, r1
    str r3, [sp, #LINE1]
    add r3, r3, r1
    str r3, [sp, #LINE2]

    /* in place: left of the first tile lies the fill */
    add r3, r3, r1
    ldr r2, [r0, #LAYER_IN_PLACE]
    cmp r2, #0
    it eq
    moveq r3, #0
    str r3, [sp, #KEPT]
    beq 2f
    vdup.8 q1, r7
    mul r1, r8, r5
    dls lr, r1
1:
    vstrw.32 q1, [r3], #16
    le lr, 1b
2:

    /* places: lane / 2 * channels + lane % 2 */
    movs r2, #0
    vidup.u16 q7, r2, #1
    vmov.i16 q0, #1
    vand q0, q7, q0
    vshr.u16 q7, q7, #1
    vmul.i16 q7, q7, r6
    vadd.i16 q7, q7, q0

    /* a strip of tiles: r0 first output column */
    movs r0, #0
.Lstrip:
    ldr r11, [sp, #KEPT]
    str r11, [sp, #KEPT_NEXT]
    str r0, [sp, #COLUMN]
    ldr r11, [sp, #LAYER]
    ldrd r1, r2, [sp, #X0]
    ldr r3, [sp, #CHANNELS]
    mla r2, r0, r3, r2
    str r2, [sp, #Y]
    ldrd r4, r5, [r11, #LAYER_TOP]
    subs r0, r0, r5                     /* first column in the image */
    ldr r2, [r11, #LAYER_X_WIDTH]
    movs r6, #6
    subs r7, r2, r0                     /* columns of the six up to the right border */
    cmp r7, r6
    it gt
    movgt r7, r6
    cmp r7, #0
    it lt
    movlt r7, #0
    rsbs r3, r0, #0                     /* columns before the left border */
    it mi
    movmi r3, #0
    cmp r3, r7
    it gt
    movgt r3, r7
    subs r8, r7, r3
    subs r6, r6, r7
    strd r3, r8, [sp, #BEFORE]
    str r6, [sp, #AFTER]
    add r0, r0, r3                      /* x + (column - top * width) * depth; -top lines are not read */
    mls r0, r4, r2, r0
    ldr r2, [sp, #DEPTH]
    mla r0, r0, r2, r1
    str r0, [sp, #X]
    rsbs r4, r4, #0
    str r4, [sp, #ROW]

    /* the next line, to where the oldest is; then that is the newest */
.Lline:
    add lr, sp, #LINE0
    ldm lr, {r0-r12}                    /* LINE0 to HEIGHT */
    strd r1, r2, [sp, #LINE0]
    str r0, [sp, #LINE2]
    vdup.8 q1, r11
    add r5, r5, r4
    str r5, [sp, #X]
    cmp r7, r12
    ittt hs                             /* not in the image, negative numbers included: six columns of fill */
    movhs r8, #6
    movhs r9, #0
    movhs r10, #0
    adds r7, #1
    str r7, [sp, #ROW]
1:
    mov r1, r4
    wls lr, r8, 3f
2:
    vstrw.32 q1, [r0], #16
    le lr, 2b
3:
    wls lr, r9, 5f
4:
    vldrb.u8 q0, [r1]
    add r1, r6
    vstrw.32 q0, [r0], #16
    le lr, 4b
5:
    wls lr, r10, 7f
6:
    vstrw.32 q1, [r0], #16
    le lr, 6b
7:
    ldr r1, [sp, #KEPT_NEXT]
    cbz r1, 8f
    cmp r9, #0
    beq 8f                              /* not in the image */
    vldrw.u32 q0, [r1]                  /* the column before the tile from there, the last of the tile to there */
    vldrw.u32 q2, [r0, #-32]
    vstrw.32 q2, [r1], #16
    vstrw.32 q0, [r0, #-96]
    str r1, [sp, #KEPT_NEXT]
8:
    adds r4, #16
    subs r3, #1
    bne 1b

    ldr r0, [sp, #FIRST]
    cmp r7, r0
    blt .Lline

    ldrd r9, r0, [sp, #Y]               /* and Y_PITCH */
    ldr r7, [sp, #STREAM]
    add r0, r0, r9
    str r0, [sp, #Y]
    ldm sp, {r0, r1, r3, r5, r11}
.Lpair:
    ldm r7!, {r0, r2, r4, r6, r8, r10, r12, lr}
.Lstep:
    taps r1
    taps r3
    taps r5
    subs r11, #1
    bne .Lnext_step

    vmov q0[2], q0[0], r0, r4
    vmov q0[3], q0[1], r2, r6
    vmov q1[2], q1[0], r8, r12
    vmov q1[3], q1[1], r10, lr
    separate
    ldm r7!, {r0, r2, r4, r6, r8, r10}  /* multipliers, signed, minus the right shifts, zero point */
    high_product q0, q0, r0
    high_product q1, q1, r2
#if !GLUE_SINGLE_ROUNDING
    cbz r4, 1f
    vqdmlah.s32 q0, q0, r4              /* halves away from zero: h + (h >> 31), one less below zero */
    vqdmlah.s32 q1, q1, r4
1:
#endif
    vrshl.s32 q0, r6
    vrshl.s32 q1, r8
    vqmovnb.s32 q0, q0
    vqmovnt.s32 q0, q1
    vqadd.s16 q0, q0, r10
    vqmovnb.s16 q0, q0
    vstrb.16 q0, [r9, q7]
    adds r9, #2
    ldm sp, {r0, r1, r3, r5, r11}       /* end of the stream, lines, steps */
    cmp r7, r0
    bne .Lpair

    ldr r0, [sp, #ROW]
    ldr r1, [sp, #LAST]
    cmp r0, r1
    bne .Lline

    /* the next strip; the last one ends with the image */
    ldr r1, [sp, #LAYER]
    ldr r1, [r1, #LAYER_Y_WIDTH]
    ldr r0, [sp, #COLUMN]
    subs r1, #4
    cmp r0, r1
    beq .Ldone
    adds r0, #4
    cmp r0, r1
    it gt
    movgt r0, r1
    b .Lstrip
.Ldone:
    movs r0, #0
    add sp, #FRAME
    vpop {d8-d15}
    pop {r4-r11, pc}

.Lnext_step:
    adds r1, #96
    adds r3, #96
    adds r5, #96
    b .Lstep
    .size CONV, . - CONV

#endif /* GLUE_CONV_3X3_MVE_ASM_H */
