#include "glue.h"

#include "glue_internal.h"
#include "glue_saturate.h"

static inline int8_t narrow(int32_t sum)
{
    int32_t code;
    GLUE_SHIFT_SATURATE(code, sum, GLUE_ADD_TABLE_SHIFT);
    return (int8_t)code;
}

static void add(const int32_t *table, int32_t factor, const int8_t *a, const int8_t *b, int8_t *output, int32_t size)
{
    for (; size >= 4; size -= 4)
    {
        output[0] = narrow(a[0] * factor + table[b[0]]);
        output[1] = narrow(a[1] * factor + table[b[1]]);
        output[2] = narrow(a[2] * factor + table[b[2]]);
        output[3] = narrow(a[3] * factor + table[b[3]]);
        a += 4;
        b += 4;
        output += 4;
    }
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = narrow(a[i] * factor + table[b[i]]);
    }
}

arm_cmsis_nn_status glue_add_table_s8(
    const glue_add_table_params *params, const int8_t *a, const int8_t *b, int8_t *output, int32_t size)
{
    const int32_t low = params->activation.min;
    const int32_t high = params->activation.max;
    const int32_t *const table = params->table + 128;
    if (size < 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    if (low == INT8_MIN && high == INT8_MAX)
    {
        add(table, params->factor, a, b, output, size);
        return ARM_CMSIS_NN_SUCCESS;
    }
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = glue_clamp_s8((a[i] * params->factor + table[b[i]]) >> GLUE_ADD_TABLE_SHIFT, low, high);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
