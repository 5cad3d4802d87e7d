#include "glue_broadcast.h"

static arm_cmsis_nn_status
mul_row(const void *params, const int8_t *a, const int8_t *b, int8_t *output, int32_t size)
{
    const glue_product_params *p = params;
    return arm_elementwise_mul_s8(a,
                                  b,
                                  p->a_offset,
                                  p->b_offset,
                                  output,
                                  p->output_offset,
                                  p->multiplier,
                                  p->shift,
                                  p->activation.min,
                                  p->activation.max,
                                  size);
}

arm_cmsis_nn_status glue_broadcast_mul_s8(const glue_broadcast_dims *loops,
                                          const glue_product_params *params,
                                          const int8_t *a,
                                          const int8_t *b,
                                          int8_t *output)
{
    return glue_broadcast(loops, mul_row, params, a, b, output);
}
