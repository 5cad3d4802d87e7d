/*
 * What glue_rows_32_mve() and glue_rows_32_s4_mve() share: all but how weights are loaded.
 *
 * Rows of one or two steps: the weights of two channels stay in registers while the rows go by, four at a time.
 * Eight sums, in the even registers, the only ones VMLADAV adds to.
 *
 *   r0 r2 r4 r6     sums of the first channel      r1  rows             q0 - q3  weights, step by step
 *   r8 r10 r12 lr   sums of the second channel     r3  pitch            q4       codes, then sums
 *                                                  r5  4 * channels     q5       sums
 *                                                  r7  output           q7       where the outputs go, from r7
 *                                                  r9  tiles left
 *                                                  r11 where to enter
 *
 * Rows are read by bytes: they need no alignment. The stream is 16-byte aligned and is read by words.
 * What does not fill a tile is computed together with the rows before it once more.
 *
 * A file that includes it defines ROWS, the name of the function, and the macro next_weights (a step of two channels).
 */

#ifndef GLUE_ROWS_32_MVE_ASM_H
#define GLUE_ROWS_32_MVE_ASM_H

/* struct glue_filter_mve */
#define FILTER_STREAM 0
#define FILTER_STEPS 4
#define FILTER_CHANNELS 8

/* the frame; at its start the requantisation of two channels, seven words */
#define X 28
#define TILES 32      /* whole ones */
#define STREAM 36
#define STEPS 40
#define Y 44          /* outputs of two channels: the first, and where the last tile ends */
#define Y_END 48
#define BACK_X 52     /* from the end of the whole tiles to the last four rows, 0 without a rest */
#define BACK_Y 56
#define PAIRS 60      /* of channels, left */
#define ODD 64        /* 1: the last pair is one channel */
#define ONE_PLACES 68
#define FRAME 84
#define SAVED 84

    /* one row and two channels; then the next row */
    .macro row steps, pitch, first, second
    .if \steps == 2
    vldrb.u8 q4, [r1], #16
    vmladav.s8 \first, q4, q0
    vmladav.s8 \second, q4, q1
    vldrb.u8 q4, [r1], #16
    vmladava.s8 \first, q4, q2
    vmladava.s8 \second, q4, q3
    .elseif \pitch
    vldrb.u8 q4, [r1], #\pitch
    vmladav.s8 \first, q4, q0
    vmladav.s8 \second, q4, q1
    .else
    vldrb.u8 q4, [r1]
    vmladav.s8 \first, q4, q0
    vmladav.s8 \second, q4, q1
    add r1, r3
    .endif
    .endm

    /* all tiles of two channels */
    .macro tiles steps, pitch
    .balign 4
1:
    row \steps, \pitch, r0, r8
    row \steps, \pitch, r2, r10
    row \steps, \pitch, r4, r12
    row \steps, \pitch, r6, lr
    vmov q4[2], q4[0], r0, r4
    vmov q4[3], q4[1], r2, r6
    vmov q5[2], q5[0], r8, r12
    vmov q5[3], q5[1], r10, lr
    ldm sp, {r0, r2, r4, r6, r8, r10, r12}
    vadd.i32 q4, q4, r0
    vadd.i32 q5, q5, r2
    high_product q4, q4, r4
    high_product q5, q5, r6
    vrshl.s32 q4, r8
    vrshl.s32 q5, r10
    vqmovnb.s32 q4, q4
    vqmovnt.s32 q4, q5
    vqadd.s16 q4, q4, r12
    vqmovnb.s16 q4, q4
    vstrb.16 q4, [r7, q7]
    add r7, r5
    subs r9, #1
    bne 1b
    .endm

    .section .text.ROWS, "ax", %progbits
    .balign 4
    .global ROWS
    .type ROWS, %function
    .thumb_func
ROWS:
    push {r4-r11, lr}
    vpush {d8-d11}
    vpush {d14-d15}
    sub sp, #FRAME
    ldr r7, [sp, #FRAME + SAVED]
    ldrd r4, r6, [r0, #FILTER_STREAM]   /* and STEPS */
    ldr r8, [r0, #FILTER_CHANNELS]
    strd r4, r6, [sp, #STREAM]          /* and STEPS */
    lsr r9, r3, #2
    strd r1, r9, [sp, #X]               /* and TILES */
    mla r9, r3, r8, r7
    strd r7, r9, [sp, #Y]               /* and Y_END */
    ands r9, r3, #3
    it ne
    rsbne r9, r9, #4
    mul r10, r9, r2
    mul r11, r9, r8
    strd r10, r11, [sp, #BACK_X]        /* and BACK_Y */
    and r5, r8, #1
    add r9, r8, #1
    lsr r9, r9, #1
    strd r9, r5, [sp, #PAIRS]           /* and ODD */
    lsl r5, r8, #2
    mov r3, r2

    /* places: lane / 2 * channels, and lane % 2 where there are two channels */
    movs r0, #0
    vidup.u16 q7, r0, #1
    vmov.i16 q0, #1
    vand q0, q7, q0
    vshr.u16 q7, q7, #1
    vmul.i16 q7, q7, r8
    vstrw.32 q7, [sp, #ONE_PLACES]
    vadd.i16 q7, q7, q0

    adr r11, .Ltwo
    cmp r6, #2
    beq 1f
    adr r11, .Lone_8
    cmp r3, #8
    beq 1f
    adr r11, .Lone_16
    cmp r3, #16
    beq 1f
    adr r11, .Lone
1:
    orr r11, r11, #1

.Lpair:
    ldrd r1, r0, [sp, #STREAM]          /* and STEPS */
    next_weights q0, q1
    cmp r0, #2
    bne 2f
    next_weights q2, q3
2:
    ldm r1!, {r0, r2, r4, r6, r8, r10, r12}
    stm sp, {r0, r2, r4, r6, r8, r10, r12}
    str r1, [sp, #STREAM]
    ldrd r0, r2, [sp, #PAIRS]           /* and ODD */
    cmp r0, r2                          /* 1 and 1 */
    bne 3f
    vldrw.u32 q7, [sp, #ONE_PLACES]
3:
    ldrd r1, r9, [sp, #X]               /* and TILES */
    ldr r7, [sp, #Y]
    bx r11

.Lone:
    tiles 1, 0
    b .Ltiles_done
.Lone_8:
    tiles 1, 8
    b .Ltiles_done
.Lone_16:
    tiles 1, 16
    b .Ltiles_done
.Ltwo:
    tiles 2, 32

.Ltiles_done:
    ldrd r0, r2, [sp, #Y]               /* and Y_END */
    cmp r7, r2
    beq 4f
    ldrd r4, r6, [sp, #BACK_X]          /* and BACK_Y */
    subs r1, r1, r4
    subs r7, r7, r6
    movs r9, #1
    bx r11
4:
    adds r0, #2
    adds r2, #2
    strd r0, r2, [sp, #Y]
    ldr r0, [sp, #PAIRS]
    subs r0, #1
    str r0, [sp, #PAIRS]
    bne .Lpair

    add sp, #FRAME
    vpop {d14-d15}
    vpop {d8-d11}
    pop {r4-r11, pc}
    .size ROWS, . - ROWS

#endif /* GLUE_ROWS_32_MVE_ASM_H */
