/* What the C forms of the MVE kernels on int16 codes share: intrinsics with MVE, plain C elsewhere. */

#ifndef GLUE_MVE_LANES_S16_H
#define GLUE_MVE_LANES_S16_H

#include "glue_mve_lanes.h"

/* Codes in one step of a row. */
#define GLUE_S16_MVE_STEP 8

/* sums[c] += sum of x[i] * w[8 * c + i] over one step, for four channels. */
static inline void glue_accumulate_s16_mve(int32_t *sums, const int16_t *x, const int8_t *w)
{
#if GLUE_MVE
    const int16x8_t a = vldrhq_s16(x);
    for (int32_t c = 0; c < GLUE_MVE_LANES; c++)
    {
        sums[c] = vmladavaq_s16(sums[c], a, vldrbq_s16(w + c * GLUE_S16_MVE_STEP));
    }
#else
    for (int32_t c = 0; c < GLUE_MVE_LANES; c++)
    {
        for (int32_t i = 0; i < GLUE_S16_MVE_STEP; i++)
        {
            /* partial sums may leave int32, whole ones do not */
            sums[c] = (int32_t)((uint32_t)sums[c] + (uint32_t)(x[i] * w[c * GLUE_S16_MVE_STEP + i]));
        }
    }
#endif
}

/* The same with sums of 64 bits. */
static inline void glue_accumulate_wide_s16_mve(int64_t *sums, const int16_t *x, const int8_t *w)
{
#if GLUE_MVE
    const int16x8_t a = vldrhq_s16(x);
    for (int32_t c = 0; c < GLUE_MVE_LANES; c++)
    {
        sums[c] = vmlaldavaq_s16(sums[c], a, vldrbq_s16(w + c * GLUE_S16_MVE_STEP));
    }
#else
    for (int32_t c = 0; c < GLUE_MVE_LANES; c++)
    {
        for (int32_t i = 0; i < GLUE_S16_MVE_STEP; i++)
        {
            sums[c] += x[i] * w[c * GLUE_S16_MVE_STEP + i];
        }
    }
#endif
}

#endif /* GLUE_MVE_LANES_S16_H */
