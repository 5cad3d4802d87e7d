/*
 * void glue_rows_32_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb

#define ROWS glue_rows_32_mve

    .macro next_weights first, second
    vldrw.u32 \first, [r1], #16
    vldrw.u32 \second, [r1], #16
    .endm

#include "glue_rows_32_mve_asm.h"

#endif
