#include "glue.h"

#include "glue_gather.h"

static glue_line place(int32_t start, int32_t dilation, int32_t taps, int32_t size)
{
    const glue_span inside = glue_taps_inside(start, dilation, taps, size);
    const glue_line line = {.count = inside.end - inside.begin,
                            .tap = inside.begin,
                            .tap_step = 1,
                            .cell = start + inside.begin * dilation,
                            .cell_step = dilation};
    return line;
}

arm_cmsis_nn_status glue_group_conv_s8(const cmsis_nn_conv_params *conv_params,
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
            const glue_line rows = place(oy * conv_params->stride.h - conv_params->padding.h,
                                         conv_params->dilation.h,
                                         filter_dims->h,
                                         input_dims->h);
            for (int32_t ox = 0; ox < output_dims->w; ox++)
            {
                const glue_line columns = place(ox * conv_params->stride.w - conv_params->padding.w,
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
