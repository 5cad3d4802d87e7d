#include "glue_broadcast_s16.h"

arm_cmsis_nn_status glue_broadcast_add_s16(const glue_broadcast_dims *loops,
                                           const glue_sum_s16_params *params,
                                           const int16_t *a,
                                           const int16_t *b,
                                           int16_t *output)
{
    const glue_sum_s16_params *const p = params;
    if (!glue_loops_valid_s16(loops) || p->left_shift < 0 || p->left_shift > 15)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t last = loops->rank - 1;
    const int32_t one = 1 << p->left_shift;
    glue_rows_s16 at = {{0}, 0, 0};
    do
    {
        for (int32_t i = 0; i < loops->dims[last]; i++)
        {
            const int32_t first = a[at.a + i * loops->a_steps[last]] * one;
            const int32_t second = b[at.b + i * loops->b_steps[last]] * one;
            const int32_t sum = glue_requantize(first, p->a_multiplier, p->a_shift) +
                                p->sign * glue_requantize(second, p->b_multiplier, p->b_shift);
            *output++ = glue_clamp_s16(glue_requantize(sum, p->output_multiplier, p->output_shift), &p->activation);
        }
    } while (glue_next_row_s16(loops, &at));
    return ARM_CMSIS_NN_SUCCESS;
}
