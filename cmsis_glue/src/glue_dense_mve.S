/*
 * arm_cmsis_nn_status glue_dense_mve(const glue_filter_mve *filter, int32_t depth, const int8_t *x, int8_t *y)
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb

#define DENSE glue_dense_mve

    .macro products
    .irp sum, r0, r2, r4, r6, r8, r10, r12, lr
    vldrw.u32 q1, [r3], #16
    vmladava.s8 \sum, q0, q1
    .endr
    .endm
    .macro separate
    .endm

#include "glue_dense_mve_asm.h"

#endif
