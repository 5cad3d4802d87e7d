/*
 * void glue_rows_32_s4_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
 *
 * glue_rows_32_mve with int4 weights, of which a vector holds those of two channels: they are separated as they are
 * loaded.
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb

#define ROWS glue_rows_32_s4_mve

    .macro next_weights first, second
    vldrw.u32 \second, [r1], #16
    vshl.i8 \first, \second, #4
    vshr.s8 \first, \first, #4
    vsub.i8 \second, \second, \first
    vshr.s8 \second, \second, #4
    .endm

#include "glue_rows_32_mve_asm.h"

#endif
