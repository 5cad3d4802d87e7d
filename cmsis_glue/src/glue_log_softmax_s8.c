#include "glue.h"

#include "glue_internal.h"

#define EXP_BITS 30 /* the table's fixed point: 2^30 is exp(0) */
#define LOG_BITS 16 /* fractional bits of the logarithm */

/*
 * log2(sum / 2^30) with LOG_BITS fractional bits, truncated, for sum >= 2^30. Squaring the mantissa doubles its
 * logarithm; whenever it passes 2, the next bit is 1.
 */
static int64_t log2_of_sum(uint64_t sum)
{
    int32_t exponent = 63;
    while ((sum >> exponent) == 0)
    {
        exponent--;
    }
    uint64_t mantissa = exponent > 31 ? sum >> (exponent - 31) : sum << (31 - exponent); /* [2^31, 2^32) */
    int64_t log = exponent - EXP_BITS;
    for (int32_t bit = 0; bit < LOG_BITS; bit++)
    {
        mantissa = mantissa * mantissa >> 31;
        const uint64_t carry = mantissa >> 32;
        mantissa >>= carry;
        log = log * 2 + (int64_t)carry;
    }
    return log;
}

arm_cmsis_nn_status glue_log_softmax_s8(const int8_t *input,
                                        int32_t num_rows,
                                        int32_t row_size,
                                        const glue_log_softmax_params *params,
                                        int8_t *output)
{
    if (num_rows < 0 || row_size < 1 || params->exp_table[0] != UINT32_C(1) << EXP_BITS ||
        params->diff_multiplier < 0 || params->log_multiplier < 0 || params->shift < 1 || params->shift > 46)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int64_t half = INT64_C(1) << (params->shift - 1);
    for (int32_t row = 0; row < num_rows; row++)
    {
        int32_t max = input[0];
        for (int32_t i = 1; i < row_size; i++)
        {
            max = glue_max(max, input[i]);
        }
        uint64_t sum = 0;
        for (int32_t i = 0; i < row_size; i++)
        {
            sum += params->exp_table[max - input[i]];
        }
        const int64_t log_term = log2_of_sum(sum) * params->log_multiplier + half;
        for (int32_t i = 0; i < row_size; i++)
        {
            const int64_t t = (int64_t)(max - input[i]) * params->diff_multiplier + log_term;
            /* Nothing above 255 reaches a code: cut before the narrowing. */
            const int64_t steps = t >> params->shift;
            output[i] = glue_clamp_s8(params->output_offset - (int32_t)(steps > 255 ? 255 : steps),
                                      params->activation.min,
                                      params->activation.max);
        }
        input += row_size;
        output += row_size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
