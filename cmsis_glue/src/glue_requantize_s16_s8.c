#include "glue.h"

#include "glue_internal.h"

arm_cmsis_nn_status glue_requantize_s16_s8(const int16_t *input,
                                           int32_t multiplier,
                                           int32_t shift,
                                           int32_t output_offset,
                                           int8_t *output,
                                           int32_t size)
{
    if (size < 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = glue_clamp_s8(glue_requantize(input[i], multiplier, shift) + output_offset, INT8_MIN, INT8_MAX);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
