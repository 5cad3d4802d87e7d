/*
 * One pixel times four channels: void glue_conv_dsp_single(const glue_tile_dsp *). The C twin is glue_conv_dsp_single.c.
 * r4-r7 S0 R01 S2 R23, r0 and r2 pairs of codes, r8-r11 weights.
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_tile_dsp_asm.h"

#define STEPS 4       /* of the unrolled loop, each of which are two pairs: */
#define STEP_BYTES 56 /* of code, and 2^4 of the column */

/* In place of the step to the second pixel: what follows the first of an odd number of pairs. */
#define EVEN 4

.macro pair x, first, second
    smlad r5, \x, \first, r5
    smlad r7, \x, \second, r7
    sxtb16 \first, \first
    sxtb16 \second, \second
    smlad r4, \x, \first, r4
    smlad r6, \x, \second, r6
.endm

    .syntax unified
    .thumb
    function glue_conv_dsp_single
    push {r4-r11, lr}
    jumps .Lrectified, 2, STEP_BYTES, 4, 0
    with_jumps
    add r3, r10, #STEP_BYTES
    sub r0, r6, r5
    tst r0, #8
    itt ne
    adrne r10, .Lodd
    orrne r10, r10, #1
    push {r2-r12}

.Lgroup:
    ldr r12, [sp, #COLUMN]
    ldm lr!, {r4-r7}
    ldr pc, [sp, #ENTRY]

    .balign 4
.Lodd:
    ldr r0, [r12], #8
    ldrd r8, r9, [lr], #8
    pair r0, r8, r9
    ldr pc, [sp, #EVEN]

    .balign 4
.Lloop:
    .rept STEPS
    ldm r12!, {r0-r3} /* every pair twice */
    ldm lr!, {r8-r11}
    pair r0, r8, r9
    pair r2, r10, r11
    .endr
    finish_loop STEPS, STEP_BYTES

    .balign 4
.Lsigned:
    ldr r12, [sp, #ZERO]
    ldm lr!, {r0-r3}
    requantise r4, r5, 1
    ldm lr!, {r0-r3}
    requantise r6, r7, 1
    pack r4, r5, r6, r7
    ldr pc, [sp, #STORE]

    clamp_one

    .balign 4
.Lrectified:
    ldr r12, [sp, #ZERO]
    ldm lr!, {r0-r3}
    requantise r4, r5, 0
    ldm lr!, {r0-r3}
    requantise r6, r7, 0
    pack_rectified r4, r5, r6, r7

    store_one glue_conv_dsp_single

#endif
