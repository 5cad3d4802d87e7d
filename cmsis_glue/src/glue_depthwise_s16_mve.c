#include "glue_s16_mve.h"

#include "glue_depthwise_walk_mve.h"
#include "glue_requantize_mve.h"

#define LANES 8
#define ALL_LANES ((mve_pred16_t)0xFFFF)

/* Sums of eight channels: the even ones and the odd ones. */
typedef struct
{
    int32x4_t even;
    int32x4_t odd;
} channel_sums;

/* Adds x * weight; of channels that are not active nothing is read. */
static inline channel_sums add_tap(channel_sums sums, const int8_t *x, const int8_t *w, mve_pred16_t active)
{
    const int16_t *const codes = (const int16_t *)(const void *)x;
    const int16x8_t a = active == ALL_LANES ? vldrhq_s16(codes) : vldrhq_z_s16(codes, active);
    const int16x8_t b = active == ALL_LANES ? vldrbq_s16(w) : vldrbq_z_s16(w, active);
    sums.even = vaddq_s32(sums.even, vmullbq_int_s16(a, b));
    sums.odd = vaddq_s32(sums.odd, vmulltq_int_s16(a, b));
    return sums;
}

/* Over the taps, three columns in one step. */
static inline channel_sums sum_channels(const glue_depthwise_window_mve *at,
                                        const int8_t *x,
                                        const int8_t *w,
                                        mve_pred16_t active,
                                        channel_sums sums)
{
    const int32_t x_column = at->x_column, w_column = at->weights_column;
    if (at->columns == 3)
    {
        for (int32_t row = at->rows; row > 0; row--)
        {
            sums = add_tap(sums, x, w, active);
            sums = add_tap(sums, x + x_column, w + w_column, active);
            sums = add_tap(sums, x + 2 * x_column, w + 2 * w_column, active);
            x += at->x_row;
            w += at->weights_row;
        }
        return sums;
    }
    for (int32_t row = at->rows; row > 0; row--)
    {
        for (int32_t column = 0; column < at->columns; column++)
        {
            sums = add_tap(sums, x + column * x_column, w + column * w_column, active);
        }
        x += at->x_row;
        w += at->weights_row;
    }
    return sums;
}

static void run_position(const glue_depthwise_mve_params *layer, const glue_depthwise_window_mve *at, int8_t *y)
{
    const int32_t *parameters = layer->parameters;
    int16_t *to = (int16_t *)(void *)y;
    for (int32_t first = 0; first < layer->output.c; first += LANES)
    {
        const mve_pred16_t active = vctp16q((uint32_t)(layer->output.c - first));
        channel_sums sums = {vldrwq_s32(parameters), vldrwq_s32(parameters + 4)};
        if (active == ALL_LANES)
        {
            sums = sum_channels(at, at->x + 2 * first, at->weights + first, ALL_LANES, sums);
        }
        else
        {
            sums = sum_channels(at, at->x + 2 * first, at->weights + first, active, sums);
        }
        sums.even = glue_requantize_mve(sums.even, vldrwq_s32(parameters + 8), vldrwq_s32(parameters + 16));
        sums.odd = glue_requantize_mve(sums.odd, vldrwq_s32(parameters + 12), vldrwq_s32(parameters + 20));
        const int16x8_t codes =
            glue_narrow_mve(sums.even, sums.odd, 0, layer->activation.min, layer->activation.max);
        vstrhq_p_s16(to + first, codes, active);
        parameters += 3 * LANES;
    }
}

arm_cmsis_nn_status glue_depthwise_s16_mve(const glue_depthwise_mve_params *layer, const int16_t *x, int16_t *y)
{
    glue_depthwise_walk_mve(layer, (const int8_t *)(const void *)x, (int8_t *)(void *)y, 2, run_position);
    return ARM_CMSIS_NN_SUCCESS;
}
