/* What the C forms of the MVE kernels with int4 weights share: intrinsics with MVE, plain C elsewhere. */

#ifndef GLUE_MVE_LANES_S4_H
#define GLUE_MVE_LANES_S4_H

#include "glue_dsp_intrinsics.h"
#include "glue_mve_lanes.h"

/*
 * One step of a pair of channels, whose weights share bytes w = w0 + 16 w1: sums[0] += sum of x * 16 w0 and
 * sums[1] += sum of x * w.
 */
static inline void glue_accumulate_s4_mve(int32_t *sums, const int8_t *x, const int8_t *w, int32_t codes)
{
#if GLUE_MVE
    const int8x16_t a = vldrbq_z_s8(x, vctp8q((uint32_t)codes));
    const int8x16_t both = vldrbq_s8(w);
    sums[0] = vmladavaq_s8(sums[0], a, vshlq_n_s8(both, 4));
    sums[1] = vmladavaq_s8(sums[1], a, both);
#else
    for (int32_t i = 0; i < codes; i++)
    {
        const int32_t first = ((w[i] & 15) ^ 8) - 8;
        sums[0] = glue_add_modulo(sums[0], x[i] * 16 * first);
        sums[1] = glue_add_modulo(sums[1], x[i] * w[i]);
    }
#endif
}

/* From the sums of a pair to those of its channels. */
static inline void glue_separate_s4_mve(int32_t *sums)
{
    sums[0] >>= 4;
    sums[1] = glue_add_modulo(sums[1], -sums[0]) >> 4;
}

/* A whole step of a pair with weights of 8 or 4 bits. */
static inline void glue_mve_accumulate_pair(int32_t *sums, const int8_t *x, const int8_t *w, int32_t bits)
{
    if (bits == 4)
    {
        glue_accumulate_s4_mve(sums, x, w, GLUE_MVE_STEP);
    }
    else
    {
        glue_mve_accumulate(sums, 2, x, w, GLUE_MVE_STEP, GLUE_MVE_STEP);
    }
}

/* What follows the last step. */
static inline void glue_mve_separate_pair(int32_t *sums, int32_t bits)
{
    if (bits == 4)
    {
        glue_separate_s4_mve(sums);
    }
}

/* As glue_mve_sums. */
static inline const int32_t *glue_sums_s4_mve(const glue_filter_mve *filter,
                                              const int32_t *stream,
                                              int32_t channels,
                                              const int8_t *x,
                                              int32_t depth,
                                              int32_t *sums)
{
    memcpy(sums, stream, (size_t)channels * sizeof *sums);
    const int8_t *w = (const int8_t *)(stream + channels);
    for (int32_t i = 0; i < depth; i += GLUE_MVE_STEP)
    {
        for (int32_t c = 0; c < channels; c += 2)
        {
            glue_accumulate_s4_mve(sums + c, x + i, w, glue_min(depth - i, GLUE_MVE_STEP));
            w += GLUE_MVE_STEP;
        }
    }
    for (int32_t c = 0; c < channels; c += 2)
    {
        glue_separate_s4_mve(sums + c);
    }
    return stream + channels + filter->steps * channels * GLUE_MVE_STEP / 8;
}

#endif /* GLUE_MVE_LANES_S4_H */
