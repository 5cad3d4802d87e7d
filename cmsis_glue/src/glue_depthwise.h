/* Depthwise convolution, under two names: Arm's, and one that is not shadowed when Arm's library is linked. */

#ifndef GLUE_DEPTHWISE_H
#define GLUE_DEPTHWISE_H

#include "arm_nnfunctions.h"

#include "glue_internal.h"

#include <stddef.h>

/* All channels of one output position. */
static inline void convolve_position(const cmsis_nn_dw_conv_params *params,
                                     const cmsis_nn_per_channel_quant_params *quant_params,
                                     const cmsis_nn_dims *input_dims,
                                     const int8_t *input,
                                     const cmsis_nn_dims *filter_dims,
                                     const int8_t *filter,
                                     const int32_t *bias,
                                     int32_t start_y,
                                     int32_t start_x,
                                     int8_t *output)
{
    const int32_t channels = input_dims->c * params->ch_mult;
    const glue_span rows = glue_taps_inside(start_y, params->dilation.h, filter_dims->h, input_dims->h);
    const glue_span columns = glue_taps_inside(start_x, params->dilation.w, filter_dims->w, input_dims->w);
    const int32_t input_step = params->dilation.w * input_dims->c;
    int32_t c = 0;
    for (int32_t c_in = 0; c_in < input_dims->c; c_in++)
    {
        for (int32_t m = 0; m < params->ch_mult; m++, c++)
        {
            int32_t sum = bias != NULL ? bias[c] : 0;
            for (int32_t ky = rows.begin; ky < rows.end; ky++)
            {
                const int32_t y = start_y + ky * params->dilation.h;
                const int32_t x = start_x + columns.begin * params->dilation.w;
                int32_t in = (y * input_dims->w + x) * input_dims->c + c_in;
                int32_t w = (ky * filter_dims->w + columns.begin) * channels + c;
                for (int32_t kx = columns.begin; kx < columns.end; kx++)
                {
                    sum += (input[in] + params->input_offset) * filter[w];
                    in += input_step;
                    w += channels;
                }
            }
            output[c] = glue_clamp_s8(glue_requantize(sum, quant_params->multiplier[c], quant_params->shift[c]) +
                                          params->output_offset,
                                      params->activation.min,
                                      params->activation.max);
        }
    }
}

static inline arm_cmsis_nn_status glue_depthwise(const cmsis_nn_context *ctx,
                                                 const cmsis_nn_dw_conv_params *dw_conv_params,
                                                 const cmsis_nn_per_channel_quant_params *quant_params,
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
    if (!glue_dims_valid(input_dims, output_dims) || dw_conv_params->ch_mult < 1 ||
        output_dims->c != input_dims->c * dw_conv_params->ch_mult || dw_conv_params->dilation.w < 1 ||
        dw_conv_params->dilation.h < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t oy = 0; oy < output_dims->h; oy++)
        {
            for (int32_t ox = 0; ox < output_dims->w; ox++)
            {
                convolve_position(dw_conv_params,
                                  quant_params,
                                  input_dims,
                                  input_data,
                                  filter_dims,
                                  filter_data,
                                  bias_data,
                                  oy * dw_conv_params->stride.h - dw_conv_params->padding.h,
                                  ox * dw_conv_params->stride.w - dw_conv_params->padding.w,
                                  output_data);
                output_data += output_dims->c;
            }
        }
        input_data += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* GLUE_DEPTHWISE_H */
