/* Requantisation to int16 codes with the DSP extension. Not for generated code. */

#ifndef GLUE_REQUANTIZE_S16_DSP_H
#define GLUE_REQUANTIZE_S16_DSP_H

#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"
#include "glue_internal.h"

/*
 * A sum to its code. scale[0], 2 m - 2^32: sum + round(sum * (2 m - 2^32) / 2^32) = round(2 sum * m / 2^32), and likewise
 * for floors. scale[1], -2^(32 - right shift). Where outputs are rectified, both ways to round halves of negative numbers
 * give 0.
 */
static inline int32_t glue_code_s16_dsp(int32_t sum, const int32_t *scale, int32_t form)
{
    const int32_t high = glue_high_added_dsp(sum, scale[0], sum);
    if (form == GLUE_TILE_RECTIFIED)
    {
        return glue_usat15(glue_smmlsr(high, scale[1], 0));
    }
    return glue_ssat16(glue_smmlsr(glue_away_dsp(high), scale[1], 0));
}

/* Two codes in a word; low and high are twice the bounds of the clamp. */
static inline uint32_t
glue_codes_s16_dsp(const int32_t *sums, const int32_t *scales, int32_t form, uint32_t low, uint32_t high)
{
    const int32_t a = glue_code_s16_dsp(sums[0], scales, form), b = glue_code_s16_dsp(sums[1], scales + 2, form);
    const uint32_t word = glue_pkhbt((uint32_t)a, (uint32_t)b);
    return (form & GLUE_TILE_CLAMPED) != 0 ? glue_min_s16x2(glue_max_s16x2(word, low), high) : word;
}

#endif /* GLUE_REQUANTIZE_S16_DSP_H */
