/*
 * arm_cmsis_nn_status glue_dense_s4_mve(const glue_filter_mve *filter, int32_t depth, const int8_t *x, int8_t *y)
 *
 * glue_dense_mve with int4 weights, of which a vector holds those of two channels. The sums are 16 times that of the
 * first channel, and 16 times that of the second one plus that of the first.
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb

#define DENSE glue_dense_s4_mve

    .macro next_pair first, second
    vldrw.u32 q1, [r3], #16
    vshl.i8 q2, q1, #4
    vmladava.s8 \second, q0, q1
    vmladava.s8 \first, q0, q2
    .endm
    .macro products
    next_pair r0, r2
    next_pair r4, r6
    next_pair r8, r10
    next_pair r12, lr
    .endm
    .macro separate
    vshr.s32 q0, q0, #4
    vsub.i32 q1, q1, q0
    vshr.s32 q1, q1, #4
    .endm

#include "glue_dense_mve_asm.h"

#endif
