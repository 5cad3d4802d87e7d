#include "glue_broadcast.h"

static arm_cmsis_nn_status
add_row(const void *params, const int8_t *a, const int8_t *b, int8_t *output, int32_t size)
{
    const glue_sum_params *p = params;
    return arm_elementwise_add_s8(a,
                                  b,
                                  p->a_offset,
                                  p->a_multiplier,
                                  p->a_shift,
                                  p->b_offset,
                                  p->b_multiplier,
                                  p->b_shift,
                                  p->left_shift,
                                  output,
                                  p->output_offset,
                                  p->output_multiplier,
                                  p->output_shift,
                                  p->activation.min,
                                  p->activation.max,
                                  size);
}

arm_cmsis_nn_status glue_broadcast_add_s8(const glue_broadcast_dims *loops,
                                                                 const glue_sum_params *params,
                                                                 const int8_t *a,
                                                                 const int8_t *b,
                                                                 int8_t *output)
{
    return glue_broadcast(loops, add_row, params, a, b, output);
}
