/*
 * Two pixels times four channels of int16 codes: void glue_conv_s16_dsp_tile(const glue_tile_dsp *). The C twin is
 * glue_conv_s16_dsp_tile.c.
 * r4-r7 sums of the first pixel, r8-r11 of the second.
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_tile_dsp_asm.h"

#define STEP_BYTES 60
#define STEPS 8 /* of the unrolled loop */

.macro products even, odd, second_even, second_odd
    ldr r2, [lr], #4
    sxtb16 r3, r2
    sxtb16 r2, r2, ror #8
    smlad \even, r0, r3, \even
    smlad \second_even, r1, r3, \second_even
    smlad \odd, r0, r2, \odd
    smlad \second_odd, r1, r2, \second_odd
.endm

/* A sum to its code; r12 is 0. */
.macro code sum, multiplier, scale, signed
    high_product_added \sum, \sum, \multiplier, \sum
    .if \signed
    away_from_zero \sum
    .endif
    smmlsr \sum, \sum, \scale, r12
    .if \signed
    ssat \sum, #16, \sum
    .else
    usat \sum, #15, \sum
    .endif
.endm

.macro codes signed
    movs r12, #0
    ldm lr!, {r0-r3}
    code r4, r0, r1, \signed
    code r8, r0, r1, \signed
    code r5, r2, r3, \signed
    code r9, r2, r3, \signed
    pkhbt r4, r4, r5, lsl #16
    pkhbt r8, r8, r9, lsl #16
    ldm lr!, {r0-r3}
    code r6, r0, r1, \signed
    code r10, r0, r1, \signed
    code r7, r2, r3, \signed
    code r11, r2, r3, \signed
    pkhbt r5, r6, r7, lsl #16
    pkhbt r9, r10, r11, lsl #16
.endm

/* r0, r1: twice the bounds. */
.macro clamp_pair pair
    ssub16 r2, \pair, r0
    sel \pair, \pair, r0
    ssub16 r2, r1, \pair
    sel \pair, \pair, r1
.endm

    two_pixels glue_conv_s16_dsp_tile

    .balign 4
.Lloop:
    .rept STEPS
    ldrd r0, r1, [r12], #8
    products r4, r5, r8, r9
    products r6, r7, r10, r11
    .endr
    finish_loop STEPS, STEP_BYTES

    .balign 4
.Lsums:
    ldr r0, [sp, #Y]
    stm r0, {r4-r11}
    leave FRAME

    .balign 4
.Lsigned:
    codes 1
    ldr pc, [sp, #STORE]

    .balign 4
.Lclamp:
    ldrd r0, r1, [sp, #LOW]
    clamp_pair r4
    clamp_pair r5
    clamp_pair r8
    clamp_pair r9
    b .Lstore

    .balign 4
.Lrectified:
    codes 0

    .balign 4
.Lstore:
    ldm sp, {r0-r2} /* y, step, end of the stream */
    adds r1, r0, r1
    str r8, [r1]
    str r9, [r1, #4]
    str r4, [r0], #4
    str r5, [r0], #4
    str r0, [sp, #Y]
    cmp lr, r2
    bne .Lgroup
    leave FRAME
    .size glue_conv_s16_dsp_tile, . - glue_conv_s16_dsp_tile

    jumps_of_tile glue_conv_s16_dsp_tile_begin, 3, STEP_BYTES

#endif
