/* Strips of the MVE depthwise convolutions: the twin of the C form in glue_depthwise_mve_strip.c. */

#include "glue_depthwise_mve_strip.h"

#if GLUE_ASM

    .syntax unified
    .thumb

/*
 * void glue_strip_fill_mve(const glue_strip_lines *lines, uint8_t *cells, int32_t positions, int32_t channels)
 *
 * r0-r3 four of the five lines, r5-r8 their steps, r10 the cell. Channels that are not there read as 0.
 */
    .section .text.glue_strip_fill_mve, "ax", %progbits
    .balign 4
    .global glue_strip_fill_mve
    .type glue_strip_fill_mve, %function
glue_strip_fill_mve:
    push {r4-r10, lr}
    mov r10, r1
    vctp.8 r3
    dls lr, r2
    ldm r0, {r0-r9}
1:
    vpstttt
    vldrbt.u8 q0, [r0]
    vldrbt.u8 q1, [r1]
    vldrbt.u8 q2, [r2]
    vldrbt.u8 q3, [r3]
    add r0, r5
    add r1, r6
    add r2, r7
    add r3, r8
    vst40.8 {q0, q1, q2, q3}, [r10]
    vst41.8 {q0, q1, q2, q3}, [r10]
    vst42.8 {q0, q1, q2, q3}, [r10]
    vst43.8 {q0, q1, q2, q3}, [r10]!
    le lr, 1b
    pop {r4-r10, pc}
    .size glue_strip_fill_mve, . - glue_strip_fill_mve

#endif
