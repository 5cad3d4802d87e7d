#include "glue_s16_mve.h"

#include "glue_depthwise_walk_mve.h"
#include "glue_requantize_mve.h"

#define LANES 8

/* Sums of eight channels: the even ones and the odd ones. */
typedef struct
{
    int32x4_t even;
    int32x4_t odd;
} channel_sums;

static inline channel_sums add_tap(channel_sums sums, int16x8_t x, int16x8_t weights)
{
    sums.even = vaddq_s32(sums.even, vmullbq_int_s16(x, weights));
    sums.odd = vaddq_s32(sums.odd, vmulltq_int_s16(x, weights));
    return sums;
}

/* Adds x * weight over the taps; of the channels that are not active nothing is read. */
static inline channel_sums sum_channels(const glue_depthwise_window_mve *at,
                                        const int8_t *x_row,
                                        const int8_t *w_row,
                                        mve_pred16_t active,
                                        channel_sums sums)
{
    for (int32_t row = at->rows; row > 0; row--)
    {
        const int8_t *x = x_row, *w = w_row;
        for (int32_t column = at->columns; column > 0; column--)
        {
            sums = add_tap(sums, vldrhq_z_s16((const int16_t *)(const void *)x, active), vldrbq_z_s16(w, active));
            x += at->x_column;
            w += at->weights_column;
        }
        x_row += at->x_row;
        w_row += at->weights_row;
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
        sums = sum_channels(at, at->x + 2 * first, at->weights + first, active, sums);
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
