#include "glue.h"

#include <string.h>

arm_cmsis_nn_status glue_indexed_copy_s8(const int8_t *input,
                                         const int32_t *dims,
                                         const int32_t *offsets,
                                         int32_t rank,
                                         int32_t block,
                                         int8_t *output)
{
    if (rank < 1 || rank > GLUE_MAX_RANK || block < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t *table[GLUE_MAX_RANK];
    int32_t index[GLUE_MAX_RANK] = {0};
    int32_t at = 0;
    for (int32_t axis = 0; axis < rank; axis++)
    {
        if (dims[axis] < 1)
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
        table[axis] = offsets;
        at += axis < rank - 1 ? offsets[0] : 0;
        offsets += dims[axis];
    }
    /* The output is written in order; index counts its axes like an odometer, at follows in the input. */
    const int32_t last = rank - 1;
    int32_t axis = 0;
    while (axis >= 0)
    {
        for (int32_t i = 0; i < dims[last]; i++)
        {
            const int8_t *from = input + at + table[last][i];
            if (block == 1)
            {
                *output = *from;
            }
            else
            {
                memcpy(output, from, (size_t)block);
            }
            output += block;
        }
        for (axis = last - 1; axis >= 0; axis--)
        {
            const int32_t before = table[axis][index[axis]];
            index[axis] = index[axis] + 1 < dims[axis] ? index[axis] + 1 : 0;
            at += table[axis][index[axis]] - before;
            if (index[axis] != 0)
            {
                break;
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
