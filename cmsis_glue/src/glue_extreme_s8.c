#include "glue.h"

#include "glue_internal.h"

arm_cmsis_nn_status glue_extreme_s8(const int8_t *a, const int8_t *b, int32_t largest, int8_t *output, int32_t size)
{
    if (size < 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = (int8_t)(largest != 0 ? glue_max(a[i], b[i]) : glue_min(a[i], b[i]));
    }
    return ARM_CMSIS_NN_SUCCESS;
}
