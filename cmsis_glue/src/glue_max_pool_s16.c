#include "glue_pool_s16.h"

static int16_t largest(const glue_pool_s16_params *p, const glue_window_s16 *at, const int16_t *channel)
{
    int32_t found = INT16_MIN;
    for (int32_t ky = at->rows.begin; ky < at->rows.end; ky++)
    {
        const int32_t row = (at->y + ky) * p->input.w + at->x;
        for (int32_t kx = at->columns.begin; kx < at->columns.end; kx++)
        {
            found = glue_max(found, channel[(row + kx) * p->input.c]);
        }
    }
    return glue_clamp_s16(found, &p->activation);
}

arm_cmsis_nn_status glue_max_pool_s16(const glue_pool_s16_params *params, const int16_t *input, int16_t *output)
{
    const glue_pool_s16_params *const p = params;
    if (!glue_pool_valid_s16(p))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < p->input.n; n++)
    {
        for (int32_t oy = 0; oy < p->output.h; oy++)
        {
            for (int32_t ox = 0; ox < p->output.w; ox++)
            {
                const glue_window_s16 at = glue_place_window_s16(p, oy, ox);
                if (at.rows.begin >= at.rows.end || at.columns.begin >= at.columns.end)
                {
                    return ARM_CMSIS_NN_ARG_ERROR;
                }
                for (int32_t c = 0; c < p->input.c; c++)
                {
                    *output++ = largest(p, &at, input + c);
                }
            }
        }
        input += p->input.h * p->input.w * p->input.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
