/* What the assembly of the MVE kernels shares; the C twins are in glue_requantize_mve.h. */

#ifndef GLUE_MVE_ASM_H
#define GLUE_MVE_ASM_H

#include "glue_rounding.h"

    /* Products / 2^31 for a right shift to follow, which does all the rounding where there is but one. */
    .macro high_product d, n, m
#if GLUE_SINGLE_ROUNDING
    vqdmulh.s32 \d, \n, \m
#else
    vqrdmulh.s32 \d, \n, \m
#endif
    .endm

    /* A second rounding goes away from zero: one less below zero where the shift, minus itself, shifts anything out. */
    .macro away_from_zero q, right, spare
#if !GLUE_SINGLE_ROUNDING
    vand \spare, \q, \right
    vshr.s32 \spare, \spare, #31
    vadd.i32 \q, \q, \spare
#endif
    .endm

#endif /* GLUE_MVE_ASM_H */
