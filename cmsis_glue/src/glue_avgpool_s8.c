#include "glue.h"

#include "glue_internal.h"

/* One axis of one window: taps inside the image, and how many cells of it count. */
typedef struct
{
    int32_t start;
    glue_span inside;
    int32_t counted;
} window_axis;

static window_axis
place_window(int32_t start, int32_t window, int32_t size, int32_t padding_end, int32_t count_include_pad)
{
    window_axis axis;
    axis.start = start;
    axis.inside = glue_taps_inside(start, 1, window, size);
    axis.counted = count_include_pad != 0 ? glue_min(start + window, size + padding_end) - start
                                          : axis.inside.end - axis.inside.begin;
    return axis;
}

/* Sum of (input + offset) of one channel over the cells inside the image. */
static int32_t sum_window(const int8_t *channel,
                          const cmsis_nn_dims *dims,
                          const window_axis *rows,
                          const window_axis *columns,
                          int32_t offset)
{
    int32_t sum = 0;
    for (int32_t ky = rows->inside.begin; ky < rows->inside.end; ky++)
    {
        const int32_t row = (rows->start + ky) * dims->w + columns->start;
        for (int32_t kx = columns->inside.begin; kx < columns->inside.end; kx++)
        {
            sum += channel[(row + kx) * dims->c] + offset;
        }
    }
    return sum;
}

arm_cmsis_nn_status glue_avgpool_s8(const glue_avgpool_params *params,
                                    const cmsis_nn_dims *input_dims,
                                    const int8_t *input,
                                    const cmsis_nn_dims *filter_dims,
                                    const cmsis_nn_dims *output_dims,
                                    int8_t *output)
{
    if (!glue_dims_valid(input_dims, output_dims) || input_dims->c != output_dims->c || params->table_size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t oy = 0; oy < output_dims->h; oy++)
        {
            const window_axis rows = place_window(oy * params->stride.h - params->padding.h,
                                                  filter_dims->h,
                                                  input_dims->h,
                                                  params->padding_end.h,
                                                  params->count_include_pad);
            for (int32_t ox = 0; ox < output_dims->w; ox++)
            {
                const window_axis columns = place_window(ox * params->stride.w - params->padding.w,
                                                         filter_dims->w,
                                                         input_dims->w,
                                                         params->padding_end.w,
                                                         params->count_include_pad);
                const int32_t entry = params->table_size == 1 ? 0 : rows.counted * columns.counted - 1;
                if (rows.counted < 1 || columns.counted < 1 || entry >= params->table_size)
                {
                    return ARM_CMSIS_NN_ARG_ERROR;
                }
                for (int32_t c = 0; c < input_dims->c; c++)
                {
                    const int32_t sum = sum_window(input + c, input_dims, &rows, &columns, params->input_offset);
                    *output++ = glue_clamp_s8(glue_requantize(sum, params->multipliers[entry], params->shifts[entry]) +
                                                  params->output_offset,
                                              params->activation.min,
                                              params->activation.max);
                }
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
