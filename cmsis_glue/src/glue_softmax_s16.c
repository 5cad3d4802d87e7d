#include "glue.h"

#include "glue_softmax.h"

/* Both passes are one loop, which contains the exponential once. */
static void
softmax_row_s16(const int16_t *input, int32_t size, int32_t mult, int32_t shift, int32_t diff_min, int16_t *output)
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
                output[i] = (int16_t)glue_min(share_of(reciprocal, power, before_last), INT16_MAX);
            }
        }
        if (pass == 0)
        {
            /* 31 + 12 - headroom - 15 bits from Q31 to codes of 2^-15 */
            const int32_t headroom = leading_zeros(sum);
            reciprocal = reciprocal_of(sum, headroom);
            before_last = SUM_SHIFT + 15 - headroom;
        }
    }
}

arm_cmsis_nn_status glue_softmax_s16(const int16_t *input,
                                     int32_t num_rows,
                                     int32_t row_size,
                                     int32_t mult,
                                     int32_t shift,
                                     int32_t diff_min,
                                     int16_t *output)
{
    if (row_size < 1 || num_rows < 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t row = 0; row < num_rows; row++)
    {
        softmax_row_s16(input + row * row_size, row_size, mult, shift, diff_min, output + row * row_size);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
