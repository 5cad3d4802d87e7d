#include "glue.h"

#include "glue_gather.h"

static int32_t greatest_common_divisor(int32_t a, int32_t b)
{
    while (b != 0)
    {
        const int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/*
 * Tap k of the output at `position` (output index plus padding) meets cell (position - k * dilation) / stride where the
 * division leaves no rest. The taps that do follow each other at a constant distance, with cells that only go down.
 */
static glue_line place(int32_t position, int32_t stride, int32_t dilation, int32_t taps, int32_t size)
{
    const int32_t divisor = greatest_common_divisor(stride, dilation);
    glue_line line = {
        .count = 0, .tap = 0, .tap_step = stride / divisor, .cell = 0, .cell_step = -(dilation / divisor)};
    for (int32_t tap = 0; tap < taps && position - tap * dilation >= 0; tap++)
    {
        const int32_t distance = position - tap * dilation;
        if (distance % stride == 0 && distance / stride < size)
        {
            const int32_t by_taps = (taps - 1 - tap) / line.tap_step;
            line.tap = tap;
            line.cell = distance / stride;
            line.count = 1 + glue_min(by_taps, line.cell / -line.cell_step);
            break;
        }
    }
    return line;
}

arm_cmsis_nn_status glue_transpose_conv_s8(const cmsis_nn_conv_params *conv_params,
                                           const cmsis_nn_per_channel_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims,
                                           const int8_t *input,
                                           const cmsis_nn_dims *filter_dims,
                                           const int8_t *filter,
                                           const int32_t *bias,
                                           const cmsis_nn_dims *output_dims,
                                           int8_t *output)
{
    const glue_gather_layer layer = {conv_params, quant_params, input_dims, filter_dims, filter, bias};
    if (!glue_gather_valid(&layer, output_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t oy = 0; oy < output_dims->h; oy++)
        {
            const glue_line rows = place(oy + conv_params->padding.h,
                                         conv_params->stride.h,
                                         conv_params->dilation.h,
                                         filter_dims->h,
                                         input_dims->h);
            for (int32_t ox = 0; ox < output_dims->w; ox++)
            {
                const glue_line columns = place(ox + conv_params->padding.w,
                                                conv_params->stride.w,
                                                conv_params->dilation.w,
                                                filter_dims->w,
                                                input_dims->w);
                output = glue_gather_pixel(&layer, &rows, &columns, input, output_dims->c, output);
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
