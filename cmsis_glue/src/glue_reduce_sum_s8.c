#include "glue.h"

#include "glue_internal.h"
#include "glue_root.h"

/* What one element adds to the sum. */
static int32_t term(int32_t value, glue_reduction reduction)
{
    switch (reduction)
    {
    case GLUE_REDUCE_SUM:
        return value;
    case GLUE_REDUCE_ABSOLUTE:
        return value < 0 ? -value : value;
    case GLUE_REDUCE_SQUARES:
    case GLUE_REDUCE_ROOT_OF_SQUARES:
    default:
        return value * value;
    }
}

arm_cmsis_nn_status glue_reduce_sum_s8(const glue_reduce_params *params,
                                       const int8_t *input,
                                       int32_t outer,
                                       int32_t reduced,
                                       int32_t inner,
                                       int8_t *output)
{
    if (outer < 0 || reduced < 1 || reduced > GLUE_MAX_REDUCED || inner < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t o = 0; o < outer; o++)
    {
        for (int32_t i = 0; i < inner; i++)
        {
            int32_t sum = 0;
            for (int32_t r = 0; r < reduced; r++)
            {
                sum += term(input[r * inner + i] + params->input_offset, params->reduction);
            }
            if (params->reduction == GLUE_REDUCE_ROOT_OF_SQUARES)
            {
                sum = (int32_t)glue_square_root((uint64_t)(uint32_t)sum << GLUE_ROOT_SHIFT);
            }
            *output++ =
                glue_clamp_s8(glue_requantize(sum, params->multiplier, params->shift) + params->output_offset,
                              params->activation.min,
                              params->activation.max);
        }
        input += reduced * inner;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
