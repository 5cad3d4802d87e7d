#include "arm_nnfunctions.h"

#include "glue_internal.h"

/* Mean of one channel over a window, halves rounded away from zero. */
static int32_t window_mean(const int8_t *window, int32_t rows, int32_t columns, const cmsis_nn_dims *dims)
{
    const int32_t count = rows * columns;
    int32_t sum = 0;
    for (int32_t y = 0; y < rows; y++)
    {
        for (int32_t x = 0; x < columns; x++)
        {
            sum += window[(y * dims->w + x) * dims->c];
        }
    }
    return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx,
                                   const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims,
                                   const int8_t *input_data,
                                   const cmsis_nn_dims *filter_dims,
                                   const cmsis_nn_dims *output_dims,
                                   int8_t *output_data)
{
    (void)ctx;
    if (!glue_dims_valid(input_dims, output_dims) || input_dims->c != output_dims->c)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t oy = 0; oy < output_dims->h; oy++)
        {
            const int32_t y0 = oy * pool_params->stride.h - pool_params->padding.h;
            const glue_span rows = glue_taps_inside(y0, 1, filter_dims->h, input_dims->h);
            for (int32_t ox = 0; ox < output_dims->w; ox++)
            {
                const int32_t x0 = ox * pool_params->stride.w - pool_params->padding.w;
                const glue_span columns = glue_taps_inside(x0, 1, filter_dims->w, input_dims->w);
                if (rows.begin >= rows.end || columns.begin >= columns.end)
                {
                    return ARM_CMSIS_NN_ARG_ERROR;
                }
                const int8_t *window =
                    input_data + ((y0 + rows.begin) * input_dims->w + x0 + columns.begin) * input_dims->c;
                for (int32_t c = 0; c < input_dims->c; c++)
                {
                    *output_data++ = glue_clamp_s8(
                        window_mean(window + c, rows.end - rows.begin, columns.end - columns.begin, input_dims),
                        pool_params->activation.min,
                        pool_params->activation.max);
                }
            }
        }
        input_data += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
