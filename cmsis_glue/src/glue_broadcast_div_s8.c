#include "glue_broadcast.h"

static arm_cmsis_nn_status
div_row(const void *params, const int8_t *a, const int8_t *b, int8_t *output, int32_t size)
{
    const glue_quotient_params *p = params;
    for (int32_t i = 0; i < size; i++)
    {
        const int32_t product = (a[i] + p->a_offset) * p->reciprocals[b[i] + 128];
        const int32_t quotient = (product + (1 << (GLUE_QUOTIENT_SHIFT - 1))) >> GLUE_QUOTIENT_SHIFT;
        output[i] = glue_clamp_s8(quotient + p->output_offset, p->activation.min, p->activation.max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status glue_broadcast_div_s8(const glue_broadcast_dims *loops,
                                          const glue_quotient_params *params,
                                          const int8_t *a,
                                          const int8_t *b,
                                          int8_t *output)
{
    return glue_broadcast(loops, div_row, params, a, b, output);
}
