/*
 * void glue_rows_s4_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
 *
 * glue_rows_mve with int4 weights, of which a vector holds those of two channels. The sums are 16 times that of the
 * first channel, and 16 times that of the second one plus that of the first.
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb
    .text

#define ROWS glue_rows_s4_mve
#define LOG_VECTORS 1

    .macro products
    vldrw.u32 q2, [r5], #16
    vshl.i8 q3, q2, #4
    vmladava.s8 r2, q0, q2
    vmladava.s8 r10, q1, q2
    vmladava.s8 r0, q0, q3
    vmladava.s8 r8, q1, q3
    vldrw.u32 q2, [r5], #16
    vshl.i8 q3, q2, #4
    vmladava.s8 r6, q0, q2
    vmladava.s8 lr, q1, q2
    vmladava.s8 r4, q0, q3
    vmladava.s8 r12, q1, q3
    .endm

    .macro separate
    sub r2, r2, r0, asr #4
    sub r10, r10, r8, asr #4
    sub r6, r6, r4, asr #4
    sub lr, lr, r12, asr #4
    .endm
    .macro unscale
    vshr.s32 q0, q0, #4
    vshr.s32 q1, q1, #4
    .endm

#include "glue_rows_s8_mve_asm.h"

#endif
