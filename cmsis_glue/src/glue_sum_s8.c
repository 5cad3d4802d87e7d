#include "glue.h"

#include "glue_internal.h"

arm_cmsis_nn_status
glue_sum_s8(const glue_terms_params *params, const int8_t *const *terms, int8_t *output, int32_t size)
{
    if (size < 0 || params->terms < 1 || params->left_shift < 0 || params->left_shift > 22)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        int32_t sum = 0;
        for (int32_t t = 0; t < params->terms; t++)
        {
            const int32_t value = (terms[t][i] + params->offsets[t]) * (1 << params->left_shift);
            sum += glue_requantize(value, params->multipliers[t], params->shifts[t]);
        }
        output[i] = glue_clamp_s8(
            glue_requantize(sum, params->output_multiplier, params->output_shift) + params->output_offset,
            params->activation.min,
            params->activation.max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
