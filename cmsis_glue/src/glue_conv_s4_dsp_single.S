/*
 * One pixel times four channels with int4 weights: void glue_conv_s4_dsp_single(const glue_tile_dsp *). The C twin is in
 * glue_conv_s4_dsp_tile.c. r4-r7 sums in the order of glue_conv_s4_dsp.h.
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_conv_s4_dsp_asm.h"

#define STEP_BYTES 36
#define STEPS 8 /* of the unrolled loop */

    .syntax unified
    .thumb
    function glue_conv_s4_dsp_single
    push {r4-r11, lr}
    jumps .Lrectified, 3, STEP_BYTES, 3, 0
    with_jumps
    push {r2-r12}

.Lgroup:
    ldr r12, [sp, #COLUMN]
    ldm lr!, {r4-r7}
    ldr pc, [sp, #ENTRY]

    .balign 4
.Lloop:
    .rept STEPS
    ldr r0, [r12], #8 /* every pair twice */
    ldr r2, [lr], #4
    uxtb16 r3, r2
    smlad r7, r0, r2, r7
    smlad r5, r0, r3, r5
    and r2, r2, #GLUE_EVEN_NIBBLES
    uxtb16 r3, r2
    smlad r6, r0, r2, r6
    smlad r4, r0, r3, r4
    .endr
    finish_loop STEPS, STEP_BYTES

    .balign 4
.Lsigned:
    ldr r12, [sp, #ZERO]
    apart r4, r5, r6, r7
    ldm lr!, {r0-r3}
    requantise_apart r4, r5, SECOND, 1
    ldm lr!, {r0-r3}
    requantise_apart r6, r7, FOURTH, 1
    pack r4, r5, r6, r7
    ldr pc, [sp, #STORE]

    clamp_one

    .balign 4
.Lrectified:
    ldr r12, [sp, #ZERO]
    apart r4, r5, r6, r7
    ldm lr!, {r0-r3}
    requantise_apart r4, r5, SECOND, 0
    ldm lr!, {r0-r3}
    requantise_apart r6, r7, FOURTH, 0
    pack_rectified r4, r5, r6, r7

    store_one glue_conv_s4_dsp_single

#endif
