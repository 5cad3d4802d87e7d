/*
 * Two pixels times four channels with int4 weights: void glue_conv_s4_dsp_tile(const glue_tile_dsp *). The C twin is
 * glue_conv_s4_dsp_tile.c. r4-r7 sums of the first pixel, r8-r11 of the second, in the order of glue_conv_s4_dsp.h.
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_conv_s4_dsp_asm.h"

#define STEP_BYTES 52
#define STEPS 8 /* of the unrolled loop */

    two_pixels glue_conv_s4_dsp_tile

    .balign 4
.Lloop:
    .rept STEPS
    ldrd r0, r1, [r12], #8
    ldr r2, [lr], #4
    uxtb16 r3, r2
    smlad r7, r0, r2, r7
    smlad r11, r1, r2, r11
    smlad r5, r0, r3, r5
    smlad r9, r1, r3, r9
    and r2, r2, #GLUE_EVEN_NIBBLES
    uxtb16 r3, r2
    smlad r6, r0, r2, r6
    smlad r10, r1, r2, r10
    smlad r4, r0, r3, r4
    smlad r8, r1, r3, r8
    .endr
    finish_loop STEPS, STEP_BYTES

    .balign 4
.Lsigned:
    ldr r12, [sp, #ZERO]
    apart r4, r5, r6, r7
    apart r8, r9, r10, r11
    ldm lr!, {r0-r3}
    requantise_apart r4, r5, SECOND, 1
    requantise_apart r8, r9, SECOND, 1
    ldm lr!, {r0-r3}
    requantise_apart r6, r7, FOURTH, 1
    requantise_apart r10, r11, FOURTH, 1
    pack r4, r5, r6, r7
    pack r8, r9, r10, r11
    ldr pc, [sp, #STORE]

    clamp_two

    .balign 4
.Lrectified:
    ldr r12, [sp, #ZERO]
    apart r4, r5, r6, r7
    apart r8, r9, r10, r11
    ldm lr!, {r0-r3}
    requantise_apart r4, r5, SECOND, 0
    requantise_apart r8, r9, SECOND, 0
    ldm lr!, {r0-r3}
    requantise_apart r6, r7, FOURTH, 0
    requantise_apart r10, r11, FOURTH, 0
    pack_rectified r4, r5, r6, r7
    pack_rectified r8, r9, r10, r11

    store_two glue_conv_s4_dsp_tile

    jumps_of_tile glue_conv_s4_dsp_begin, 3, STEP_BYTES, 0

#endif
