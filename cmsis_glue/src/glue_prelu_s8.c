#include "glue_broadcast.h"

static arm_cmsis_nn_status
prelu_row(const void *params, const int8_t *x, const int8_t *slope, int8_t *output, int32_t size)
{
    const glue_prelu_params *p = params;
    for (int32_t i = 0; i < size; i++)
    {
        const int32_t value = x[i] + p->input_offset;
        const int32_t scaled =
            value >= 0
                ? glue_requantize(value, p->positive_multiplier, p->positive_shift)
                : glue_requantize(value * (slope[i] + p->slope_offset), p->negative_multiplier, p->negative_shift);
        output[i] = glue_clamp_s8(scaled + p->output_offset, -128, 127);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status glue_prelu_s8(const glue_broadcast_dims *loops,
                                  const glue_prelu_params *params,
                                  const int8_t *input,
                                  const int8_t *slope,
                                  int8_t *output)
{
    return glue_broadcast(loops, prelu_row, params, input, slope, output);
}
