/*
 * One row by four channels at a time: void glue_rows_single_mve(const glue_filter_mve *filter, const int8_t *x, int8_t *y).
 * The C form is in glue_rows_single_mve.c.
 *
 *   r0 r2 r4 r6  sums, which start at the biases    q0  codes of the row, then sums
 *   r1 r3  row          r9  channels left           q1  weights
 *   r5  stream          r8  where to enter          q2 q3  multipliers, right shifts
 *   r7  output          r10 what follows
 *   r11 steps           r12 zero point
 *
 * Up to eight steps are a straight line that is entered where as many are left as the row has.
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb

/* struct glue_filter_mve */
#define FILTER_STREAM 0 /* and steps */
#define FILTER_CHANNELS 8 /* and the zero point */
#define FILTER_LOW 16 /* and high */
#define FILTER_FORM 24

#define SLOTS 8
#define SLOT_BYTES 36

    .macro products
    .irp sum, r0, r2, r4, r6
    vldrw.u32 q1, [r5], #16
    vmladava.s8 \sum, q0, q1
    .endr
    .endm

    /* sums side by side, and the next two tables */
    .macro collect
    vmov q0[2], q0[0], r0, r4
    vmov q0[3], q0[1], r2, r6
    vldrw.u32 q2, [r5], #16
    vldrw.u32 q3, [r5], #16
    .endm

    .section .text.glue_rows_single_mve, "ax", %progbits
    .balign 4
    .global glue_rows_single_mve
    .type glue_rows_single_mve, %function
    .thumb_func
glue_rows_single_mve:
    push {r0, r4-r11, lr}
    mov r7, r2
    ldrd r5, r11, [r0, #FILTER_STREAM]
    ldrd r9, r12, [r0, #FILTER_CHANNELS]
    ldr r0, [r0, #FILTER_FORM]
    adr r10, .Lrectified
    cmp r0, #1
    it eq
    adreq r10, .Lsigned
    it hi
    adrhi r10, .Lgeneral
    orr r10, r10, #1
    adr r8, .Llong
    rsbs r4, r11, #SLOTS
    blt 1f
    adr r8, .Lslots
    movs r2, #SLOT_BYTES
    mla r8, r4, r2, r8
    sub r1, r1, r4, lsl #4 /* the first slot to run has the offset 16 * (SLOTS - steps) */
1:
    orr r8, r8, #1

.Lgroup:
    ldm r5!, {r0, r2, r4, r6}
    bx r8

    .balign 4
.Lslots:
    .irp offset, 0, 16, 32, 48, 64, 80, 96, 112
    vldrb.u8 q0, [r1, #\offset]
    products
    .endr
    .if . - .Lslots - SLOTS * SLOT_BYTES
    .error "SLOT_BYTES"
    .endif
    bx r10

    .balign 4
.Llong:
    mov r3, r1
    dls lr, r11
1:
    vldrb.u8 q0, [r3], #16
    products
    le lr, 1b
    bx r10

    .balign 4
.Lsigned:
    collect
    high_product q0, q0, q2
#if !GLUE_SINGLE_ROUNDING
    movs r0, #1
    vqdmlah.s32 q0, q0, r0 /* halves away from zero: h + (h >> 31), one less below zero */
#endif
    b .Lshift

    .balign 4
.Lgeneral:
    collect                /* left shifts; what saturates is clamped anyhow */
    vqshl.s32 q0, q0, q2
    high_product q0, q0, q3
    vldrw.u32 q3, [r5], #16
    away_from_zero q0, q3, q2
    vrshl.s32 q0, q0, q3
    vqmovnb.s32 q0, q0
    vqadd.s16 q0, q0, r12
    ldr r0, [sp]
    ldrd r2, r4, [r0, #FILTER_LOW]
    vdup.16 q2, r2
    vdup.16 q3, r4
    vmax.s16 q0, q0, q2
    vmin.s16 q0, q0, q3
    b .Lstore

    .balign 4
.Lrectified:
    collect
    high_product q0, q0, q2
.Lshift:
    vrshl.s32 q0, q0, q3
    vqmovnb.s32 q0, q0
    vqadd.s16 q0, q0, r12
    vqmovnb.s16 q0, q0
.Lstore:
    subs r9, #4
    blt .Ltail
    vstrb.32 q0, [r7], #4
    bne .Lgroup
    pop {r0, r4-r11, pc}

.Ltail:
    add r9, #4
    vctp.32 r9
    vpst
    vstrbt.32 q0, [r7]
    pop {r0, r4-r11, pc}
    .size glue_rows_single_mve, . - glue_rows_single_mve

#endif
