#include "glue_wide_internal.h"

#define ENTRIES 513
#define WHOLE 7 /* log2 of the step of the first table */

arm_cmsis_nn_status
glue_lookup_s16(const int16_t *input, const int16_t *tables, int32_t shift, int16_t *output, int32_t size)
{
    if (size < 0 || shift < 0 || shift > WHOLE)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        const int32_t x = input[i];
        const int32_t inside = x >> (shift + 8);
        const int fine = shift < WHOLE && (inside == 0 || inside == -1);
        const int32_t step = fine ? shift : WHOLE;
        const int16_t *const at = (fine ? tables + ENTRIES : tables) + ((x >> step) + 256);
        const int32_t one = 1 << step;
        output[i] = (int16_t)(at[0] + (((at[1] - at[0]) * (x & (one - 1)) + (one >> 1)) >> step));
    }
    return ARM_CMSIS_NN_SUCCESS;
}
