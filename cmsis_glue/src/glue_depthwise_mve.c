#include "glue_mve.h"

#include "glue_internal.h"
#include "glue_requantize_mve.h"

#include <stddef.h>

#define LANES 8
#define ALL_LANES ((mve_pred16_t)0xFFFF)

/* The taps of one output position that lie inside the image. */
typedef struct
{
    const int8_t *x; /* first channel of the first of them */
    const int8_t *weights;
    int32_t rows;
    int32_t columns;
    int32_t x_column; /* distances in codes */
    int32_t x_row;
    int32_t weights_column;
    int32_t weights_row;
} window;

/* Sums of eight channels: the even ones and the odd ones. */
typedef struct
{
    int32x4_t even;
    int32x4_t odd;
} channel_sums;

/* Eight codes; those that are not active are not read. */
static inline int16x8_t load_codes(const int8_t *codes, mve_pred16_t active)
{
    return active == ALL_LANES ? vldrbq_s16(codes) : vldrbq_z_s16(codes, active);
}

static inline channel_sums add_tap(channel_sums sums, int16x8_t x, int16x8_t weights, int32_t zero_point)
{
    const int16x8_t centred = vsubq_n_s16(x, (int16_t)zero_point);
    sums.even = vaddq_s32(sums.even, vmullbq_int_s16(centred, weights));
    sums.odd = vaddq_s32(sums.odd, vmulltq_int_s16(centred, weights));
    return sums;
}

/* Adds (x - zero point) * weight over the taps of channels first, first + 1, ..; nothing outside the image is read. */
static inline channel_sums
sum_channels(const window *at, int32_t first, int32_t zero_point, mve_pred16_t active, channel_sums sums)
{
    const int8_t *x_row = at->x + first;
    const int8_t *w_row = at->weights + first;
    for (int32_t row = at->rows; row > 0; row--)
    {
        const int8_t *x = x_row;
        const int8_t *w = w_row;
        for (int32_t column = at->columns; column > 0; column--)
        {
            sums = add_tap(sums, load_codes(x, active), load_codes(w, active), zero_point);
            x += at->x_column;
            w += at->weights_column;
        }
        x_row += at->x_row;
        w_row += at->weights_row;
    }
    return sums;
}

/* The same where several outputs read one channel: sources[i] is that of output first + i. */
static channel_sums sum_sources(const window *at,
                                int32_t first,
                                const uint16_t *sources,
                                int32_t zero_point,
                                mve_pred16_t active,
                                channel_sums sums)
{
    const uint16x8_t offsets = vldrhq_z_u16(sources, active);
    for (int32_t row = 0; row < at->rows; row++)
    {
        const int8_t *x = at->x + row * at->x_row;
        const int8_t *w = at->weights + row * at->weights_row + first;
        for (int32_t column = 0; column < at->columns; column++)
        {
            const int16x8_t codes = vldrbq_gather_offset_z_s16(x, offsets, active);
            sums = add_tap(sums, codes, vldrbq_z_s16(w, active), zero_point);
            x += at->x_column;
            w += at->weights_column;
        }
    }
    return sums;
}

/* All channels of one output position. */
static void run_position(const glue_depthwise_mve_params *layer, const window *at, int8_t *y)
{
    const int32_t zero_point = layer->input_zero_point;
    const int32_t *parameters = layer->parameters;
    for (int32_t first = 0; first < layer->output.c; first += LANES)
    {
        const int32_t left = layer->output.c - first;
        const mve_pred16_t active = vctp16q((uint32_t)left);
        channel_sums sums = {vldrwq_s32(parameters), vldrwq_s32(parameters + 4)};
        if (layer->sources != NULL)
        {
            sums = sum_sources(at, first, layer->sources + first, zero_point, active, sums);
        }
        else if (left >= LANES)
        {
            sums = sum_channels(at, first, zero_point, ALL_LANES, sums);
        }
        else
        {
            sums = sum_channels(at, first, zero_point, active, sums);
        }
        sums.even = glue_requantize_mve(sums.even, vldrwq_s32(parameters + 8), vldrwq_s32(parameters + 16));
        sums.odd = glue_requantize_mve(sums.odd, vldrwq_s32(parameters + 12), vldrwq_s32(parameters + 20));
        const int16x8_t codes = glue_narrow_mve(
            sums.even, sums.odd, layer->output_zero_point, layer->activation.min, layer->activation.max);
        vstrbq_p_s16(y + first, codes, active);
        parameters += 3 * LANES;
    }
}

arm_cmsis_nn_status glue_depthwise_s8_mve(const glue_depthwise_mve_params *layer, const int8_t *x, int8_t *y)
{
    const int32_t pixel = layer->input.c;
    const int32_t line = layer->input.w * pixel;
    window at;
    at.x_column = layer->dilation.w * pixel;
    at.x_row = layer->dilation.h * line;
    at.weights_column = layer->output.c;
    at.weights_row = layer->kernel.w * layer->output.c;
    for (int32_t n = 0; n < layer->input.n; n++)
    {
        for (int32_t oy = 0; oy < layer->output.h; oy++)
        {
            const int32_t top = oy * layer->stride.h - layer->padding.h;
            const glue_span rows = glue_taps_inside(top, layer->dilation.h, layer->kernel.h, layer->input.h);
            at.rows = rows.end - rows.begin;
            for (int32_t ox = 0; ox < layer->output.w; ox++)
            {
                const int32_t left = ox * layer->stride.w - layer->padding.w;
                const glue_span columns = glue_taps_inside(left, layer->dilation.w, layer->kernel.w, layer->input.w);
                at.columns = columns.end - columns.begin;
                at.x = x;
                at.weights = layer->weights;
                if (at.rows > 0 && at.columns > 0)
                {
                    at.x += top * line + rows.begin * at.x_row + left * pixel + columns.begin * at.x_column;
                    at.weights += rows.begin * at.weights_row + columns.begin * at.weights_column;
                }
                run_position(layer, &at, y);
                y += layer->output.c;
            }
        }
        x += layer->input.h * line;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
