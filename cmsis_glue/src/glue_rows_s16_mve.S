/*
 * void glue_rows_s16_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
 *
 * glue_rows_mve on int16 codes, whose zero point is 0: steps of eight, weights that are widened as they are loaded, outputs
 * of two bytes; q7 counts outputs.
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb
    .text

#define ROWS glue_rows_s16_mve
#define LOG_BYTES 1
#define LOG_VECTORS 1

    .macro products
    vldrb.s16 q2, [r5], #8
    vmladava.s16 r0, q0, q2
    vmladava.s16 r8, q1, q2
    vldrb.s16 q2, [r5], #8
    vmladava.s16 r2, q0, q2
    vmladava.s16 r10, q1, q2
    vldrb.s16 q2, [r5], #8
    vmladava.s16 r4, q0, q2
    vmladava.s16 r12, q1, q2
    vldrb.s16 q2, [r5], #8
    vmladava.s16 r6, q0, q2
    vmladava.s16 lr, q1, q2
    .endm

    .macro separate
    .endm
    .macro unscale
    .endm
    .macro load_codes q, place:vararg
    vldrh.u16 \q, \place
    .endm
    .macro next_codes q, row
    vldrh.u16 \q, [\row], #16
    .endm
    .macro outputs_of_bytes outputs, bytes
    lsr \outputs, \bytes, #1
    .endm
    .macro outputs_beyond_groups outputs, bytes
    ubfx \outputs, \bytes, #1, #2
    .endm
    .macro add_zero
    .endm
    .macro narrow
    .endm
    .macro narrow_rectified
    vmax.s16 q0, q0, q4
    .endm
    .macro store
    vstrh.16 q0, [r7, q7, uxtw #1]
    adds r7, #8
    .endm

#include "glue_rows_mve_asm.h"

#endif
