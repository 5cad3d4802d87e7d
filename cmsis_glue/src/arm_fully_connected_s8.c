#include "arm_nnfunctions.h"

#include "glue_internal.h"

#include <stddef.h>

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *ctx,
                                           const cmsis_nn_fc_params *fc_params,
                                           const cmsis_nn_per_tensor_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims,
                                           const int8_t *input_data,
                                           const cmsis_nn_dims *filter_dims,
                                           const int8_t *filter_data,
                                           const cmsis_nn_dims *bias_dims,
                                           const int32_t *bias_data,
                                           const cmsis_nn_dims *output_dims,
                                           int8_t *output_data)
{
    (void)ctx;
    (void)bias_dims;
    const int32_t depth = filter_dims->n;
    if (input_dims->n < 1 || depth < 1 || output_dims->c < 1 || fc_params->filter_offset != 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t c = 0; c < output_dims->c; c++)
        {
            const int32_t sum = glue_dot(input_data, filter_data + c * depth, fc_params->input_offset, depth) +
                                (bias_data != NULL ? bias_data[c] : 0);
            *output_data++ = glue_clamp_s8(glue_requantize(sum, quant_params->multiplier, quant_params->shift) +
                                               fc_params->output_offset,
                                           fc_params->activation.min,
                                           fc_params->activation.max);
        }
        input_data += depth;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
