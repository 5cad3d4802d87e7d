#include "glue_broadcast_s16.h"

arm_cmsis_nn_status glue_broadcast_mul_s16(const glue_broadcast_dims *loops,
                                           const glue_product_s16_params *params,
                                           const int16_t *a,
                                           const int16_t *b,
                                           int16_t *output)
{
    if (!glue_loops_valid_s16(loops))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t last = loops->rank - 1;
    glue_rows_s16 at = {{0}, 0, 0};
    do
    {
        for (int32_t i = 0; i < loops->dims[last]; i++)
        {
            const int32_t product = a[at.a + i * loops->a_steps[last]] * b[at.b + i * loops->b_steps[last]];
            *output++ =
                glue_clamp_s16(glue_requantize(product, params->multiplier, params->shift), &params->activation);
        }
    } while (glue_next_row_s16(loops, &at));
    return ARM_CMSIS_NN_SUCCESS;
}
