#include "glue_pool_mve.h"

#include <arm_mve.h>

static void max_position(const glue_pool_mve_params *pool, const glue_pool_window *at, int8_t *y)
{
    const int8x16_t highest = vdupq_n_s8((int8_t)pool->activation.max);
    for (int32_t c = 0; c < pool->input.c; c += GLUE_POOL_LANES)
    {
        const mve_pred16_t active = vctp8q((uint32_t)(pool->input.c - c));
        int8x16_t largest = vdupq_n_s8((int8_t)pool->activation.min);
        for (int32_t row = 0; row < at->rows; row++)
        {
            const int8_t *x = at->x + row * at->row_step + c;
            for (int32_t column = 0; column < at->columns; column++)
            {
                largest = vmaxq_s8(largest, vldrbq_z_s8(x, active));
                x += at->pixel_step;
            }
        }
        vstrbq_p_s8(y + c, vminq_s8(largest, highest), active);
    }
}

arm_cmsis_nn_status glue_max_pool_s8_mve(const glue_pool_mve_params *pool, const int8_t *x, int8_t *y)
{
    return glue_pool_positions(pool, x, y, max_position);
}
