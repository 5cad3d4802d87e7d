#include "glue.h"

#include "glue_internal.h"

arm_cmsis_nn_status glue_reduce_extreme_s8(const int8_t *input,
                                           int32_t outer,
                                           int32_t reduced,
                                           int32_t inner,
                                           int32_t largest,
                                           const cmsis_nn_activation *activation,
                                           int8_t *output)
{
    if (outer < 0 || reduced < 1 || inner < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t o = 0; o < outer; o++)
    {
        for (int32_t i = 0; i < inner; i++)
        {
            int32_t best = input[i];
            for (int32_t r = 1; r < reduced; r++)
            {
                const int32_t code = input[r * inner + i];
                best = largest != 0 ? glue_max(best, code) : glue_min(best, code);
            }
            *output++ = glue_clamp_s8(best, activation->min, activation->max);
        }
        input += reduced * inner;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
