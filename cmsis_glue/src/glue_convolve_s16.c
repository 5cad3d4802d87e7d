#include "glue_wide_internal.h"

/* A dot product of any length, in parts that stay in 32 bits. */
static int64_t long_dot(const int16_t *x, const int8_t *w, int32_t size)
{
    int64_t sum = 0;
    for (; size > GLUE_SAFE_PRODUCTS; size -= GLUE_SAFE_PRODUCTS)
    {
        sum += glue_dot_s16(x, w, GLUE_SAFE_PRODUCTS);
        x += GLUE_SAFE_PRODUCTS;
        w += GLUE_SAFE_PRODUCTS;
    }
    return sum + glue_dot_s16(x, w, size);
}

/* The taps inside the image; start is the cell of tap (0, 0). */
static int64_t accumulate(const glue_layer_s16_params *p,
                          const int16_t *start, /* moved to the first channel of the group */
                          const int8_t *filter,
                          glue_span rows,
                          glue_span columns)
{
    const int32_t channels = p->filter.c;
    const int32_t across = p->dilation.w * p->input.c;
    /* Neighbouring taps are neighbours in memory, in input and filter alike: one long dot product per row. */
    const int32_t step = across == channels ? glue_max(columns.end - columns.begin, 1) : 1;
    int64_t sum = 0;
    for (int32_t ky = rows.begin; ky < rows.end; ky++)
    {
        const int32_t row = ky * p->dilation.h * p->input.w * p->input.c;
        for (int32_t kx = columns.begin; kx < columns.end; kx += step)
        {
            sum += long_dot(start + (row + kx * across), filter + (ky * p->filter.w + kx) * channels, step * channels);
        }
    }
    return sum;
}

arm_cmsis_nn_status glue_convolve_s16(const glue_layer_s16_params *params, const int16_t *input, int16_t *output)
{
    const glue_layer_s16_params *const p = params;
    if (!glue_layer_valid_s16(p) || p->input.c % p->filter.c != 0 || p->output.c % (p->input.c / p->filter.c) != 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t outputs_per_group = p->output.c / (p->input.c / p->filter.c);
    const int32_t filter_size = p->filter.h * p->filter.w * p->filter.c;
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
                const int32_t start = (y * p->input.w + x) * p->input.c;
                for (int32_t c = 0; c < p->output.c; c++)
                {
                    const int64_t sum = accumulate(p,
                                                   input + (start + c / outputs_per_group * p->filter.c),
                                                   p->weights + c * filter_size,
                                                   rows,
                                                   columns);
                    *output++ = glue_finish_s16(p, sum, c);
                }
            }
        }
        input += p->input.h * p->input.w * p->input.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
