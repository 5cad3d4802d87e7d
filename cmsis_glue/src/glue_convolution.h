/* Convolution, under two names: Arm's, and one that is not shadowed when Arm's library is linked. */

#ifndef GLUE_CONVOLUTION_H
#define GLUE_CONVOLUTION_H

#include "arm_nnfunctions.h"

#include "glue_internal.h"

#include <stddef.h>

/* One output value before bias and requantisation: the taps inside the image, C_IN / groups channels each. */
static inline int32_t accumulate(const cmsis_nn_conv_params *params,
                                 const cmsis_nn_dims *input_dims,
                                 const cmsis_nn_dims *filter_dims,
                                 const int8_t *input,  /* image, moved to the first channel of the group */
                                 const int8_t *filter, /* [KH, KW, C_IN / groups] of this output channel */
                                 int32_t start_y,
                                 int32_t start_x,
                                 glue_span rows,
                                 glue_span columns)
{
    const int32_t channels = filter_dims->c;
    /* Neighbouring taps are neighbours in memory, in input and filter alike: one long dot product per row. */
    const int contiguous = params->dilation.w == 1 && channels == input_dims->c;
    const int32_t step = contiguous ? glue_max(columns.end - columns.begin, 1) : 1;
    int32_t sum = 0;
    for (int32_t ky = rows.begin; ky < rows.end; ky++)
    {
        const int32_t y = start_y + ky * params->dilation.h;
        for (int32_t kx = columns.begin; kx < columns.end; kx += step)
        {
            const int32_t x = start_x + kx * params->dilation.w;
            sum += glue_dot(input + (y * input_dims->w + x) * input_dims->c,
                            filter + (ky * filter_dims->w + kx) * channels,
                            params->input_offset,
                            step * channels);
        }
    }
    return sum;
}

static inline arm_cmsis_nn_status glue_convolution(const cmsis_nn_context *ctx,
                                                   const cmsis_nn_conv_params *conv_params,
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
    if (!glue_dims_valid(input_dims, output_dims) || filter_dims->c < 1 || input_dims->c % filter_dims->c != 0 ||
        output_dims->c % (input_dims->c / filter_dims->c) != 0 || conv_params->dilation.w < 1 ||
        conv_params->dilation.h < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t outputs_per_group = output_dims->c / (input_dims->c / filter_dims->c);
    const int32_t filter_size = filter_dims->h * filter_dims->w * filter_dims->c;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t oy = 0; oy < output_dims->h; oy++)
        {
            const int32_t start_y = oy * conv_params->stride.h - conv_params->padding.h;
            const glue_span rows = glue_taps_inside(start_y, conv_params->dilation.h, filter_dims->h, input_dims->h);
            for (int32_t ox = 0; ox < output_dims->w; ox++)
            {
                const int32_t start_x = ox * conv_params->stride.w - conv_params->padding.w;
                const glue_span columns =
                    glue_taps_inside(start_x, conv_params->dilation.w, filter_dims->w, input_dims->w);
                for (int32_t c = 0; c < output_dims->c; c++)
                {
                    const int32_t sum = accumulate(conv_params,
                                                   input_dims,
                                                   filter_dims,
                                                   input_data + c / outputs_per_group * filter_dims->c,
                                                   filter_data + c * filter_size,
                                                   start_y,
                                                   start_x,
                                                   rows,
                                                   columns) +
                                        (bias_data != NULL ? bias_data[c] : 0);
                    *output_data++ =
                        glue_clamp_s8(glue_requantize(sum, quant_params->multiplier[c], quant_params->shift[c]) +
                                          conv_params->output_offset,
                                      conv_params->activation.min,
                                      conv_params->activation.max);
                }
            }
        }
        input_data += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* GLUE_CONVOLUTION_H */
