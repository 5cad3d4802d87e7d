/* Requantisation in the assembly for the DSP extension; the C twins are in glue_dsp_intrinsics.h. */

#ifndef GLUE_DSP_ASM_H
#define GLUE_DSP_ASM_H

#include "glue_rounding.h"

/* High words for a right shift to follow, which does all the rounding where there is but one. */
.macro high_product d, n, m
#if GLUE_SINGLE_ROUNDING
    smmul \d, \n, \m
#else
    smmulr \d, \n, \m
#endif
.endm

.macro high_product_added d, n, m, a
#if GLUE_SINGLE_ROUNDING
    smmla \d, \n, \m, \a
#else
    smmlar \d, \n, \m, \a
#endif
.endm

/* A second rounding goes away from zero. */
.macro away_from_zero high
#if !GLUE_SINGLE_ROUNDING
    add \high, \high, \high, asr #31
#endif
.endm

#endif /* GLUE_DSP_ASM_H */
