/*
 * What glue_rows_mve(), glue_rows_s4_mve() and glue_rows_s16_mve() share: all but how codes and weights are loaded and
 * outputs stored.
 *
 * Two rows by four channels at a time: eight sums, in the even registers, the only ones VMLADAV adds to. Sums start at
 * the biases. Up to eight steps are a straight line that is entered where as many are left as a row has; longer rows,
 * and all that are not rectified, go through a loop.
 *
 *   r0 r2 r4 r6     sums of the first row      r1  first row        q0 q1  codes of the rows, then their sums
 *   r8 r10 r12 lr   sums of the second row     r3  second row       q2 q3  weights; multipliers, right shifts
 *                                              r5  stream           q4 q5  low, high
 *                                              r7  output           q7     where the eight outputs go, from r7
 *                                              r9  groups left
 *                                              r11 where to enter
 *
 * An odd last row is computed together with the row before it once more; a single row as both rows of a pair.
 *
 * A file that includes it defines ROWS, the name of the function; LOG_BYTES, of a code; LOG_VECTORS, of the weights of
 * a group and step; and the macros products (a step), separate and unscale (from sums of products to those of channels:
 * in their registers, then as vectors), load_codes, next_codes, outputs_of_bytes, outputs_beyond_groups,
 * narrow_rectified, narrow, add_zero, store (eight outputs; r7 goes on).
 */

#ifndef GLUE_ROWS_MVE_ASM_H
#define GLUE_ROWS_MVE_ASM_H

/* struct glue_filter_mve */
#define FILTER_STREAM 0
#define FILTER_STEPS 4
#define FILTER_CHANNELS 8
#define FILTER_ZERO 12
#define FILTER_LOW 16
#define FILTER_HIGH 20
#define FILTER_FORM 24

/* the frame */
#define NEXT_X 0      /* rows and outputs of the next pair */
#define NEXT_Y 4
#define PITCH 8
#define CHANNELS 12
#define STREAM 16
#define GROUPS 20     /* whole groups of four channels */
#define END 24        /* of the stream */
#define PAIRS 28      /* pairs of rows left */
#define PAIR 32       /* rows of this pair, two words */
#define LOOPS 40      /* turns of the loop over steps */
#define ENTRY 44      /* what r11 holds */
#define EXIT 48       /* where the loop over steps goes */
#define TAIL_PLACES 64
#define FULL_PLACES 80
#define FRAME 100
#define SAVED 100     /* registers above the frame */

#define SLOTS 8
#define SLOT_BYTES 56

    /* the sums of a row side by side */
    .macro collect
    separate
    vmov q0[2], q0[0], r0, r4
    vmov q0[3], q0[1], r2, r6
    vmov q1[2], q1[0], r8, r12
    vmov q1[3], q1[1], r10, lr
    unscale
    .endm

    .section .text.ROWS, "ax", %progbits
    .balign 4
    .global ROWS
    .type ROWS, %function
    .thumb_func
ROWS:
    push {r4-r11, lr}
    vpush {d8-d15}
    sub sp, #FRAME
    mov r9, r0
    ldr r7, [sp, #FRAME + SAVED]
    ldrd r5, r6, [r9, #FILTER_STREAM]
#if LOG_BYTES
    ldr r8, [r9, #FILTER_CHANNELS]      /* two bytes each; the zero point is 0 */
#else
    ldrd r8, r10, [r9, #FILTER_CHANNELS]
    vdup.16 q6, r10                     /* the zero point follows */
#endif
    ldrd r4, r10, [r9, #FILTER_LOW]
    vdup.16 q4, r4
    vdup.16 q5, r10
    ldr r0, [r9, #FILTER_FORM]

    outputs_of_bytes r10, r8            /* from the first row of a pair to the second */
    cmp r3, #1
    itt eq
    moveq r2, #0
    moveq r10, #0
    strd r2, r8, [sp, #PITCH]

    /* 16 * (2^LOG_VECTORS * steps + 1 + 2 tables, 3 when general) bytes for every group, begun ones included */
    lsr r4, r0, #1                      /* GLUE_MVE_GENERAL is 2 */
    adds r4, #3
    add r4, r4, r6, lsl #LOG_VECTORS
    lsls r4, #4
    add r12, r8, #(3 << LOG_BYTES)
    lsr r12, r12, #(2 + LOG_BYTES)
    mla r4, r4, r12, r5
    str r4, [sp, #END]
    lsr r4, r8, #(2 + LOG_BYTES)
    strd r5, r4, [sp, #STREAM]

    /* places: channel + row * channels for 16-bit lanes row 0, row 1, row 0, ... */
    movs r4, #0
    vidup.u16 q0, r4, #1
    vmov.i16 q1, #1
    vand q1, q0, q1
    vmul.i16 q1, q1, r10
    vshr.u16 q0, q0, #1
    vadd.i16 q2, q0, q1
    vstrw.32 q2, [sp, #FULL_PLACES]
    outputs_beyond_groups r4, r8
    subs r4, #1
    vdup.16 q2, r4
    vmin.u16 q0, q0, q2                 /* the missing channels are the last one once more */
    vadd.i16 q0, q0, q1
    vstrw.32 q0, [sp, #TAIL_PLACES]

    /* the way through the steps */
    cbnz r0, 1f
    cmp r6, #SLOTS
    bhi 1f
    rsb r4, r6, #SLOTS
    adr r11, .Lslots
    movs r0, #SLOT_BYTES
    mla r11, r4, r0, r11
    sub r1, r1, r4, lsl #4              /* the first slot to run has the offset 16 * (SLOTS - steps) */
    b 3f
1:
    adr r4, .Lshort
    cbz r0, 2f
    adr r4, .Lsigned
    cmp r0, #1
    beq 2f
    adr r4, .Lgeneral
2:
    orr r4, r4, #1
    str r4, [sp, #EXIT]
    adr r11, .Leven
    lsrs r4, r6, #1
    bcc 2f
    adr r11, .Lodd
    adds r4, #1
2:
    str r4, [sp, #LOOPS]
3:
    orr r11, r11, #1
    str r11, [sp, #ENTRY]

    /* the second pair starts one row on when there is an odd number, else two */
    add r4, r3, #1
    lsr r4, r4, #1
    str r4, [sp, #PAIRS]
    mov r4, r2
    mov r6, r8
    tst r3, #1
    add r3, r1, r4
    mov r0, r3
    add r2, r7, r6
    bne 4f
    add r0, r0, r4
    add r2, r2, r6
4:
    strd r0, r2, [sp, #NEXT_X]
    b .Lstart

.Lpair:
    ldrd r1, r7, [sp, #NEXT_X]
    ldrd r4, r6, [sp, #PITCH]
    add r3, r1, r4
    add r0, r3, r4
    add r2, r7, r6, lsl #1
    strd r0, r2, [sp, #NEXT_X]
.Lstart:
    strd r1, r3, [sp, #PAIR]
    ldrd r5, r9, [sp, #STREAM]
    vldrw.u32 q7, [sp, #FULL_PLACES]
    cmp r9, #0
    beq .Llast

.Lgroup:
    ldm r5, {r0, r2, r4, r6}
    ldm r5!, {r8, r10, r12, lr}
    bx r11

    .balign 4
.Lslots:
    .irp offset, 0, 16, 32, 48, 64, 80, 96, 112
    load_codes q0, [r1, #\offset]
    load_codes q1, [r3, #\offset]
    products
    .endr
    .if . - .Lslots - SLOTS * SLOT_BYTES
    .error "SLOT_BYTES"
    .endif

.Lshort:
    collect
    vldrw.u32 q2, [r5], #16
    vldrw.u32 q3, [r5], #16
    high_product q0, q0, q2
    high_product q1, q1, q2
    vrshl.s32 q0, q0, q3
    vrshl.s32 q1, q1, q3
    vqmovnb.s32 q0, q0
    vqmovnt.s32 q0, q1
    narrow_rectified
    store
    subs r9, #1
    bne .Lgroup

.Llast:
    ldr r0, [sp, #END]
    cmp r5, r0
    bne .Ltail
    ldr r0, [sp, #PAIRS]
    subs r0, #1
    str r0, [sp, #PAIRS]
    bne .Lpair

    add sp, #FRAME
    vpop {d8-d15}
    pop {r4-r11, pc}

.Ltail:
    vldrw.u32 q7, [sp, #TAIL_PLACES]
    movs r9, #1
    b .Lgroup

    /* two steps a turn; r11 counts */
    .balign 4
.Lodd:
    ldr r11, [sp, #LOOPS]
    b 2f
    .balign 4
.Leven:
    ldr r11, [sp, #LOOPS]
1:
    next_codes q0, r1
    next_codes q1, r3
    products
2:
    next_codes q0, r1
    next_codes q1, r3
    products
    subs r11, #1
    bne 1b
    ldrd r1, r3, [sp, #PAIR]
    ldr r11, [sp, #ENTRY]
    ldr pc, [sp, #EXIT]

    .balign 4
.Lsigned:
    collect
    vldrw.u32 q2, [r5], #16
    vldrw.u32 q3, [r5], #16
    high_product q0, q0, q2
    high_product q1, q1, q2
#if !GLUE_SINGLE_ROUNDING
    movs r0, #1
    vqdmlah.s32 q0, q0, r0              /* halves away from zero: h + (h >> 31), one less below zero */
    vqdmlah.s32 q1, q1, r0
#endif
    vrshl.s32 q0, q0, q3
    vrshl.s32 q1, q1, q3
    vqmovnb.s32 q0, q0
    vqmovnt.s32 q0, q1
    narrow
    b .Lstore

    .balign 4
.Lgeneral:
    collect
    vldrw.u32 q2, [r5], #16             /* left shifts; what saturates is clamped anyhow */
    vqshl.s32 q0, q0, q2
    vqshl.s32 q1, q1, q2
    vldrw.u32 q2, [r5], #16
    high_product q0, q0, q2
    high_product q1, q1, q2
    vldrw.u32 q2, [r5], #16             /* minus the right shifts */
    away_from_zero q0, q2, q3
    away_from_zero q1, q2, q3
    vrshl.s32 q0, q0, q2
    vrshl.s32 q1, q1, q2
    vqmovnb.s32 q0, q0
    vqmovnt.s32 q0, q1
    add_zero
    vmax.s16 q0, q0, q4
    vmin.s16 q0, q0, q5
.Lstore:
    store
    subs r9, #1
    bne .Lgroup
    b .Llast
    .size ROWS, . - ROWS

#endif /* GLUE_ROWS_MVE_ASM_H */
