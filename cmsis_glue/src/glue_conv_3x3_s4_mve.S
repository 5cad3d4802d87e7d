/*
 * arm_cmsis_nn_status
 * glue_conv_3x3_s4_mve(const glue_conv_3x3_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch)
 *
 * glue_conv_3x3_mve with int4 weights, of which a vector holds those of both channels. The sums are 16 times that of
 * the first channel, and 16 times that of the second one plus that of the first.
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb

#define CONV glue_conv_3x3_s4_mve
#define WORDS 36

    .macro next_weights first, second
    vldrw.u32 \second, [r7], #16
    vshl.i8 \first, \second, #4
    .endm
    .macro separate
    vshr.s32 q0, q0, #4
    vsub.i32 q1, q1, q0
    vshr.s32 q1, q1, #4
    .endm

#include "glue_conv_3x3_mve_asm.h"

#endif
