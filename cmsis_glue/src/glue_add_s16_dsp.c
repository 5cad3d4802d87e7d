#include "glue_conv_s16_dsp_tile.h"
#include "glue_requantize_s16_dsp.h"

/* Both multipliers are 1/2 where equal is not 0; it and rectified are constants at every call. */
static inline void add_row(const glue_sum_s16_params *params,
                           const int16_t *a,
                           const int16_t *b,
                           int16_t *y,
                           int32_t size,
                           int32_t equal,
                           int32_t rectified)
{
    const int32_t multiplier = params->b_multiplier;
    const int32_t scale = (int32_t)(UINT32_MAX << ((32 + params->b_shift) & 31));
    const int32_t result[2] = {glue_shift_left(params->output_multiplier, 1),
                               (int32_t)(UINT32_MAX << (32 + params->output_shift))};
    const int32_t low = params->activation.min, high = params->activation.max;
    for (const int16_t *const end = a + size; a != end; a++)
    {
        const int32_t first = *a * (1 << 14), second = *b++;
        const int32_t scaled = glue_away_dsp(glue_high_dsp(second * (1 << 16), multiplier));
        const int32_t sum = equal ? first + second * (1 << 14) : glue_smmlsr(scaled, scale, first);
        const int32_t code = glue_code_s16_dsp(sum, result, rectified ? GLUE_TILE_RECTIFIED : GLUE_TILE_SIGNED);
        *y++ = (int16_t)(rectified ? code : glue_min(glue_max(code, low), high));
    }
}

arm_cmsis_nn_status
glue_add_s16_dsp(const glue_sum_s16_params *params, const int16_t *a, const int16_t *b, int16_t *output, int32_t size)
{
    const int32_t rectified = params->activation.min == 0 && params->activation.max == INT16_MAX;
    if (params->b_shift == 0)
    {
        add_row(params, a, b, output, size, 1, rectified);
    }
    else if (rectified)
    {
        add_row(params, a, b, output, size, 0, 1);
    }
    else
    {
        add_row(params, a, b, output, size, 0, 0);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
