/*
 * Two pixels times four channels: void glue_conv_dsp_tile(const glue_tile_dsp *). The C twin is glue_conv_dsp_tile.c.
 * r4-r7 S0 R01 S2 R23 of the first pixel, r8-r11 of the second.
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_tile_dsp_asm.h"

#define STEP_BYTES 48
#define STEPS 16 /* of the unrolled loop */

    two_pixels glue_conv_dsp_tile

    .balign 4
.Lloop:
    .rept STEPS
    ldrd r0, r1, [r12], #8
    ldrd r2, r3, [lr], #8
    smlad r5, r0, r2, r5
    smlad r9, r1, r2, r9
    smlad r7, r0, r3, r7
    smlad r11, r1, r3, r11
    sxtb16 r2, r2
    sxtb16 r3, r3
    smlad r4, r0, r2, r4
    smlad r8, r1, r2, r8
    smlad r6, r0, r3, r6
    smlad r10, r1, r3, r10
    .endr
    finish_loop STEPS, STEP_BYTES
    finish_sums FRAME

    .balign 4
.Lsigned:
    ldr r12, [sp, #ZERO]
    ldm lr!, {r0-r3}
    requantise r4, r5, 1
    requantise r8, r9, 1
    ldm lr!, {r0-r3}
    requantise r6, r7, 1
    requantise r10, r11, 1
    pack r4, r5, r6, r7
    pack r8, r9, r10, r11
    ldr pc, [sp, #STORE]

    clamp_two

    .balign 4
.Lrectified:
    ldr r12, [sp, #ZERO]
    ldm lr!, {r0-r3}
    requantise r4, r5, 0
    requantise r8, r9, 0
    ldm lr!, {r0-r3}
    requantise r6, r7, 0
    requantise r10, r11, 0
    pack_rectified r4, r5, r6, r7
    pack_rectified r8, r9, r10, r11

    store_two glue_conv_dsp_tile

    jumps_of_tile glue_conv_dsp_tile_begin, 4, STEP_BYTES

#endif
