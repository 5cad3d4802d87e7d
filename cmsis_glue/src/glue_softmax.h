/* Softmax, under two names: Arm's, and one that is not shadowed when Arm's library is linked. */

#ifndef GLUE_SOFTMAX_H
#define GLUE_SOFTMAX_H

#include "arm_nnfunctions.h"

#include "glue_internal.h"

#define ONE_Q31 INT32_MAX /* 1.0 as a fixed-point number with 31 fractional bits, as near as 32 bits come */
#define SUM_SHIFT 12      /* exponentials lose 12 bits before they are summed: 12 integer, 19 fractional bits */

/*
 * exp(v / 2^26) for v <= 0, in Q31, the way of the TensorFlow Lite int8 specification:
 * v = r - q with q a multiple of 1/4 and r in [-1/4, 0). exp(r) is a Taylor polynomial of degree 4 around -1/8; then
 * one factor exp(-2^k) follows for each bit k = -2 .. 4 of q.
 */
static inline int32_t exp_of_negative(int32_t v)
{
    static const int32_t factors[7] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int32_t exp_minus_eighth = 1895147668;
    const int32_t third = 715827883;
    const int32_t quarter = 1 << 24;

    if (v == 0)
    {
        return ONE_Q31;
    }
    const int32_t r = (v & (quarter - 1)) - quarter;
    const int32_t q = r - v;
    const int32_t x = r * 32 + (1 << 28); /* Q31: r + 1/8 */
    const int32_t x2 = glue_high_mul(x, x);
    const int32_t x3 = glue_high_mul(x2, x);
    const int32_t x4_over_4 = (glue_high_mul(x2, x2) + 2) >> 2;
    /* x^2/2 + x^3/6 + x^4/24, which is not negative */
    const int32_t tail = (glue_high_mul(x4_over_4 + x3, third) + x2 + 1) >> 1;
    int32_t result = exp_minus_eighth + glue_high_mul(exp_minus_eighth, x + tail);
    for (int32_t bit = 0; bit < 7; bit++)
    {
        if ((q & (quarter << bit)) != 0)
        {
            result = glue_high_mul(result, factors[bit]);
        }
    }
    return result;
}

/* 1 / (1 + x) in Q31 for x in [0, 1) in Q31: Newton's steps on 48/17 - 32/17 * d, with d = (1 + x) / 2. */
static inline int32_t one_over_one_plus(int32_t x)
{
    const int32_t d = (int32_t)(((int64_t)x + ONE_Q31 + 1) / 2);
    int32_t y = 1515870810 + glue_high_mul(d, -1010580540); /* Q29 */
    for (int32_t step = 0; step < 3; step++)
    {
        const int32_t error = (1 << 29) - glue_high_mul(d, y);
        y += glue_high_mul(y, error) * 4; /* error is at most 1/17 */
    }
    return y >= 1 << 30 ? INT32_MAX : y * 2;
}

/* Number of zero bits above the highest one of value > 0. */
static inline int32_t leading_zeros(int32_t value)
{
    int32_t count = 0;
    for (uint32_t bits = (uint32_t)value; (bits & UINT32_C(0x80000000)) == 0; bits <<= 1)
    {
        count++;
    }
    return count;
}

/* exp of a code's distance from the largest one, in Q31; 0 below diff_min. */
static inline int32_t power_of(int32_t difference, int32_t mult, int32_t shift, int32_t diff_min)
{
    return difference >= diff_min ? exp_of_negative(glue_high_mul(glue_shift_left(difference, shift), mult)) : 0;
}

/* A power as it is summed. */
static inline int32_t summand(int32_t power)
{
    return ((power >> (SUM_SHIFT - 1)) + 1) >> 1;
}

/* 1 / (1.fraction) in Q31 of a sum = 1.fraction * 2^k that has so many zero bits above. */
static inline int32_t reciprocal_of(int32_t sum, int32_t headroom)
{
    return one_over_one_plus((int32_t)(((uint32_t)sum << headroom) & UINT32_C(0x7fffffff)));
}

/* power * reciprocal in steps of the output, rounded by the last of all shifts. */
static inline int32_t share_of(int32_t reciprocal, int32_t power, int32_t before_last)
{
    return ((glue_high_mul(reciprocal, power) >> before_last) + 1) >> 1;
}

/* The exponential is large: both passes over a row are one loop, which contains it once. */
static inline void
softmax_row(const int8_t *input, int32_t size, int32_t mult, int32_t shift, int32_t diff_min, int8_t *output)
{
    int32_t max = input[0];
    for (int32_t i = 1; i < size; i++)
    {
        max = glue_max(max, input[i]);
    }
    int32_t sum = 0, reciprocal = 0, before_last = 0;
    for (int32_t pass = 0; pass < 2; pass++)
    {
        for (int32_t i = 0; i < size; i++)
        {
            const int32_t power = power_of(input[i] - max, mult, shift, diff_min);
            if (pass == 0)
            {
                sum += summand(power);
            }
            else
            {
                output[i] = (int8_t)(glue_min(share_of(reciprocal, power, before_last), 255) - 128);
            }
        }
        if (pass == 0)
        {
            const int32_t headroom = leading_zeros(sum);
            reciprocal = reciprocal_of(sum, headroom);
            /* 31 + 12 - headroom - 8 bits from Q31 to codes of 1/256, undoing the scaling of the sum; beyond 32, all
               is 0 */
            before_last = glue_min(SUM_SHIFT + 22 - headroom, 31);
        }
    }
}

static inline void glue_softmax(const int8_t *input,
                                const int32_t num_rows,
                                const int32_t row_size,
                                const int32_t mult,
                                const int32_t shift,
                                const int32_t diff_min,
                                int8_t *output)
{
    if (row_size < 1)
    {
        return;
    }
    for (int32_t row = 0; row < num_rows; row++)
    {
        softmax_row(input + row * row_size, row_size, mult, shift, diff_min, output + row * row_size);
    }
}

#endif /* GLUE_SOFTMAX_H */
