/* Epilogues for Armv6-M, which multiplies 32 by 32 bits into 32: exact by splitting. Not for generated code. */

#ifndef GLUE_BASELINE_INTERNAL_H
#define GLUE_BASELINE_INTERNAL_H

#include "glue_scalar_internal.h"

/* Half of what the product is shifted right by, 7 bits, where that is a rounding of its own. */
#define GLUE_BASELINE_HALF (GLUE_SINGLE_ROUNDING ? 0 : 64)

/*
 * RECTIFIED: {multiplier, limit, constant, shift}; sums from 0 down give the lowest code.
 *
 * Shifts up to 24: sums above the limit give the highest code, and the others times each half of the multiplier fit.
 * Larger ones: the sum is below 2^24 and split as well; constant = half + zero point * 2^(shift - 16).
 */
static inline int8_t glue_rectified_baseline(int32_t sum, const int32_t *numbers)
{
    const uint32_t multiplier = (uint32_t)numbers[0];
    if (sum <= 0)
    {
        return INT8_MIN;
    }
    if (numbers[3] <= 24)
    {
        if (sum > numbers[1])
        {
            return INT8_MAX;
        }
        const uint32_t lower = ((uint32_t)sum * (multiplier & 0x7FFFU)) >> 15;
        const uint32_t total = (uint32_t)sum * (multiplier >> 15) + lower + (uint32_t)numbers[2];
        return (int8_t)((int32_t)(total >> numbers[3]) - 128);
    }
    const uint32_t high = (uint32_t)sum >> 8;
    const uint32_t low = (uint32_t)sum & 255U;
    const uint32_t mh = multiplier >> 16;
    const uint32_t ml = multiplier & 0xFFFFU;
    const uint32_t middle = low * mh + ((high * ml + ((low * ml) >> 8)) >> 8);
    const int32_t product = (int32_t)((high * mh + (middle >> 8) + GLUE_BASELINE_HALF) >> 7);
    return (int8_t)glue_min((product + numbers[2]) >> (numbers[3] - 16), INT8_MAX);
}

/*
 * SIGNED: {multiplier >> 16, multiplier & 0xFFFF, half, shift}; |sum| < 2^23. Works on the magnitude, whose halves go
 * up, but those of the product down: of a negative sum, what is less than the last bit of the product by one. With one
 * rounding that makes all halves go up.
 */
static inline int8_t glue_signed_baseline(int32_t sum, const int32_t *numbers, int32_t zero_point)
{
    const int32_t sign = sum < 0 ? -1 : 0;
    const int32_t magnitude = (sum ^ sign) - sign;
    const int32_t high = magnitude >> 8;
    const int32_t low = magnitude & 255;
    const int32_t mh = numbers[0];
    const int32_t ml = numbers[1];
    const int32_t middle = low * mh + ((high * ml + ((low * ml + sign) >> 8)) >> 8);
    const int32_t product = (high * mh + (middle >> 8) + GLUE_BASELINE_HALF) >> 7;
    const int32_t scaled = (product + numbers[2]) >> numbers[3];
    return glue_saturate_s8((scaled ^ sign) - sign + zero_point);
}

/* One output of any epilogue; GENERAL has the same numbers on every core. */
static inline int8_t glue_output_baseline(int32_t sum,
                                          const int32_t *numbers,
                                          int32_t epilogue,
                                          int32_t zero_point,
                                          cmsis_nn_activation activation)
{
    if (epilogue == GLUE_SCALAR_RECTIFIED)
    {
        return glue_rectified_baseline(sum, numbers);
    }
    if (epilogue == GLUE_SCALAR_SIGNED)
    {
        return glue_signed_baseline(sum, numbers, zero_point);
    }
    return glue_general_scalar_one(sum, numbers, zero_point, activation);
}

#endif /* GLUE_BASELINE_INTERNAL_H */
