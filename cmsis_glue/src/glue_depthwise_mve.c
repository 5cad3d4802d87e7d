#include "glue_mve.h"

#include "glue_depthwise_walk_mve.h"
#include "glue_internal.h"
#include "glue_requantize_mve.h"

#include <stddef.h>

#define LANES 8
#define ALL_LANES ((mve_pred16_t)0xFFFF)

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
sum_channels(const glue_depthwise_window_mve *at, int32_t first, int32_t zero_point, mve_pred16_t active, channel_sums sums)
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
static channel_sums sum_sources(const glue_depthwise_window_mve *at,
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
static void run_position(const glue_depthwise_mve_params *layer, const glue_depthwise_window_mve *at, int8_t *y)
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
    glue_depthwise_walk_mve(layer, x, y, 1, run_position);
    return ARM_CMSIS_NN_SUCCESS;
}
