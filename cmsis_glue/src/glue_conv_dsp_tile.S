/*
 * Two pixels times four channels: void glue_conv_dsp_tile(const glue_tile_dsp *). The C twin is glue_conv_dsp_tile.c.
 * r4-r7 S0 R01 S2 R23 of the first pixel, r8-r11 of the second.
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_tile_dsp_asm.h"

#define STEP_BYTES 48
#define STEPS 16 /* of the unrolled loop */

    .syntax unified
    .thumb
    .section .text.glue_conv_dsp_tile, "ax", %progbits
    .balign 4
    .global glue_conv_dsp_tile
    .type glue_conv_dsp_tile, %function
    .thumb_func
glue_conv_dsp_tile:
    push {r4-r11, lr}
    ldm r0, {r1-r12}
    mov lr, r1
    push {r2-r12}

.Lgroup:
    ldr r12, [sp, #COLUMN]
    ldm lr, {r8-r11}
    ldm lr!, {r4-r7}
    ldr pc, [sp, #ENTRY]

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

    .balign 4
.Lclamp:
    ldrd r0, r1, [sp, #LOW]
    clamp r4, r0, r1
    clamp r8, r0, r1
    b .Lstore

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

    .balign 4
.Lstore:
    ldm sp, {r0-r2} /* y, step, end of the stream */
    str r8, [r0, r1]
    str r4, [r0], #4
    str r0, [sp, #Y]
    cmp lr, r2
    bne .Lgroup
    leave FRAME
    .size glue_conv_dsp_tile, . - glue_conv_dsp_tile

    .global glue_conv_dsp_tile_begin
    .type glue_conv_dsp_tile_begin, %function
    .thumb_func
glue_conv_dsp_tile_begin:
    jumps .Lrectified, 4, STEP_BYTES, 3
    add r0, r0, #TILE_JUMPS
    stm r0, {r1-r3}
    bx lr
    .size glue_conv_dsp_tile_begin, . - glue_conv_dsp_tile_begin

#endif
