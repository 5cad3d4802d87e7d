#include "glue_wide_internal.h"

arm_cmsis_nn_status glue_requantize_s8_s16(const int8_t *input,
                                           int32_t input_offset,
                                           int32_t multiplier,
                                           int32_t shift,
                                           int16_t *output,
                                           int32_t size)
{
    if (size < 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = glue_saturate_s16(glue_requantize(input[i] + input_offset, multiplier, shift));
    }
    return ARM_CMSIS_NN_SUCCESS;
}
