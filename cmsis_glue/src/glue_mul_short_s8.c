#include "glue.h"

#include "glue_internal.h"

/* Bits the product is shifted left by, so that its high half holds what the rounding needs. */
#define PRODUCT_SHIFT 14

arm_cmsis_nn_status glue_mul_short_s8(
    const glue_mul_short_params *params, const int8_t *a, const int8_t *b, int8_t *output, int32_t size)
{
    const int32_t a_zero = params->a_zero;
    const int32_t b_zero = params->b_zero;
    const int32_t multiplier = params->multiplier;
    const int32_t sign = params->sign;
    const int32_t shift = params->shift;
    const int32_t low = params->activation.min;
    const int32_t high = params->activation.max;
    if (size < 0 || shift < 0 || shift > 30)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        const int32_t product = (a[i] - a_zero) * ((b[i] - b_zero) * (1 << PRODUCT_SHIFT));
        const int32_t scaled = (int32_t)(((int64_t)product * multiplier) >> 32);
        output[i] = glue_clamp_s8((scaled + params->constant + ((product >> 31) & sign)) >> shift, low, high);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
