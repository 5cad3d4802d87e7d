/*
 * arm_cmsis_nn_status
 * glue_conv_3x3_mve(const glue_conv_3x3_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch)
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb

#define CONV glue_conv_3x3_mve
#define WORDS 72

    .macro next_weights first, second
    vldrw.u32 \first, [r7], #16
    vldrw.u32 \second, [r7], #16
    .endm
    .macro separate
    .endm

#include "glue_conv_3x3_mve_asm.h"

#endif
