#include "glue.h"

#include "glue_internal.h"

#include <stddef.h>

/* Sum over depth of (a + a_offset) * (b + b_offset), both walked in steps. */
static int32_t dot(const glue_matmul_params *params, const int8_t *a, const int8_t *b)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < params->depth; k++)
    {
        sum += (*a + params->a_offset) * (*b + params->b_offset);
        a += params->a_step[GLUE_MATMUL_INNER];
        b += params->b_step[GLUE_MATMUL_INNER];
    }
    return sum;
}

static int8_t *product(const glue_matmul_params *params,
                       const int8_t *a,
                       const int8_t *b,
                       const int32_t *bias,
                       int8_t *output)
{
    for (int32_t row = 0; row < params->rows; row++)
    {
        const int8_t *column = b;
        for (int32_t c = 0; c < params->columns; c++)
        {
            const int32_t sum = dot(params, a, column) + (bias != NULL ? bias[c] : 0);
            *output++ =
                glue_clamp_s8(glue_requantize(sum, params->multiplier, params->shift) + params->output_offset,
                              params->activation.min,
                              params->activation.max);
            column += params->b_step[GLUE_MATMUL_OUTER];
        }
        a += params->a_step[GLUE_MATMUL_OUTER];
    }
    return output;
}

arm_cmsis_nn_status glue_matmul_s8(const glue_matmul_params *params,
                                   const int8_t *a,
                                   const int8_t *b,
                                   const int32_t *bias,
                                   int8_t *output)
{
    const int32_t *batch = params->batch;
    const int32_t *a_step = params->a_step;
    const int32_t *b_step = params->b_step;
    if (params->rows < 1 || params->columns < 1 || params->depth < 1 || batch[0] < 1 || batch[1] < 1 || batch[2] < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < batch[0]; i++)
    {
        for (int32_t j = 0; j < batch[1]; j++)
        {
            for (int32_t k = 0; k < batch[2]; k++)
            {
                output = product(params,
                                 a + i * a_step[0] + j * a_step[1] + k * a_step[2],
                                 b + i * b_step[0] + j * b_step[1] + k * b_step[2],
                                 bias,
                                 output);
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
