/* What the C forms of the tiles for the DSP extension share. Not for generated code. */

#ifndef GLUE_REQUANTIZE_DSP_H
#define GLUE_REQUANTIZE_DSP_H

#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"

/* Add the products of two codes and the weights of two channels to S0 and R01. */
static inline void glue_accumulate_dsp(int32_t *sums, uint32_t codes, uint32_t weights)
{
    sums[0] = glue_smlad(codes, glue_sxtb16(weights), sums[0]);
    sums[1] = glue_smlad(codes, weights, sums[1]);
}

/* 256 * S1. */
static inline int32_t glue_second_sum_dsp(const int32_t *sums)
{
    return (int32_t)((uint32_t)sums[1] - (uint32_t)sums[0]);
}

/*
 * A scaled sum to its code: scale is -2^(32 - right shift), so it is zero + round(h / 2^shift), halves upwards. In the
 * second of two roundings halves of negative numbers must go away from zero, which the step of the signed form does.
 */
static inline int32_t glue_code_dsp(int32_t h, int32_t scale, int32_t zero, int32_t form)
{
    if (form == GLUE_TILE_RECTIFIED)
    {
        return glue_ssat8(glue_smmlsr(h, scale, zero) - 128);
    }
    return glue_ssat8(glue_smmlsr(glue_away_dsp(h), scale, zero));
}

/*
 * Codes of four channels from S0 R01 S2 R23. The multiplier of an even channel is 2 m - 2^32, that of an odd one m:
 * s + round(s * (2 m - 2^32) / 2^32) = round(2 s * m / 2^32), and likewise for floors.
 */
static inline uint32_t glue_requantize_dsp_group(
    const int32_t *sums, const int32_t *scales, int32_t zero, int32_t form, uint32_t low, uint32_t high)
{
    int32_t codes[4];
    for (int32_t i = 0; i < 4; i += 2)
    {
        const int32_t even = glue_high_added_dsp(sums[i], scales[2 * i], sums[i]);
        const int32_t odd = glue_high_dsp(glue_second_sum_dsp(sums + i) >> 7, scales[2 * i + 2]);
        codes[i] = glue_code_dsp(even, scales[2 * i + 1], zero, form);
        codes[i + 1] = glue_code_dsp(odd, scales[2 * i + 3], zero, form);
    }
    const uint32_t word = glue_pack_s8x4(codes[0], codes[1], codes[2], codes[3]);
    return (form & GLUE_TILE_CLAMPED) != 0 ? glue_min_s8x4(glue_max_s8x4(word, low), high) : word;
}

#endif /* GLUE_REQUANTIZE_DSP_H */
