/*
 * void glue_rows_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
 *
 * Steps of 16 codes.
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb
    .text

#define ROWS glue_rows_mve
#define LOG_VECTORS 2

    .macro products
    vldrw.u32 q2, [r5], #16
    vmladava.s8 r0, q0, q2
    vmladava.s8 r8, q1, q2
    vldrw.u32 q2, [r5], #16
    vmladava.s8 r2, q0, q2
    vmladava.s8 r10, q1, q2
    vldrw.u32 q2, [r5], #16
    vmladava.s8 r4, q0, q2
    vmladava.s8 r12, q1, q2
    vldrw.u32 q2, [r5], #16
    vmladava.s8 r6, q0, q2
    vmladava.s8 lr, q1, q2
    .endm

    .macro separate
    .endm
    .macro unscale
    .endm

#include "glue_rows_s8_mve_asm.h"

#endif
