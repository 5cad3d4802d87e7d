#include "glue_wide_internal.h"

/* Sum of the taps of one channel inside the image, the window at row y, column x. */
static int64_t accumulate(const glue_layer_s16_params *p,
                          const int16_t *channel,
                          const int8_t *filter,
                          int32_t y,
                          int32_t x,
                          glue_span rows,
                          glue_span columns)
{
    const int32_t across = p->dilation.w * p->input.c;
    int64_t sum = 0;
    for (int32_t ky = rows.begin; ky < rows.end; ky++)
    {
        int32_t in = ((y + ky * p->dilation.h) * p->input.w + x + columns.begin * p->dilation.w) * p->input.c;
        int32_t w = (ky * p->filter.w + columns.begin) * p->filter.c;
        for (int32_t kx = columns.begin; kx < columns.end; kx++)
        {
            sum += (int32_t)channel[in] * filter[w];
            in += across;
            w += p->filter.c;
        }
    }
    return sum;
}

arm_cmsis_nn_status glue_depthwise_conv_s16(const glue_layer_s16_params *params, const int16_t *input, int16_t *output)
{
    const glue_layer_s16_params *const p = params;
    if (!glue_layer_valid_s16(p) || p->output.c != p->filter.c || p->output.c % p->input.c != 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t multiplier = p->output.c / p->input.c;
    for (int32_t n = 0; n < p->input.n; n++)
    {
        for (int32_t oy = 0; oy < p->output.h; oy++)
        {
            const int32_t y = oy * p->stride.h - p->padding.h;
            const glue_span rows = glue_taps_inside(y, p->dilation.h, p->filter.h, p->input.h);
            for (int32_t ox = 0; ox < p->output.w; ox++)
            {
                const int32_t x = ox * p->stride.w - p->padding.w;
                const glue_span columns = glue_taps_inside(x, p->dilation.w, p->filter.w, p->input.w);
                int32_t c = 0;
                for (int32_t from = 0; from < p->input.c; from++)
                {
                    for (int32_t m = 0; m < multiplier; m++, c++)
                    {
                        const int64_t sum = accumulate(p, input + from, p->weights + c, y, x, rows, columns);
                        *output++ = glue_finish_s16(p, sum, c);
                    }
                }
            }
        }
        input += p->input.h * p->input.w * p->input.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
