#include "glue.h"

#include <string.h>

static int8_t *copy_row(const int8_t *input, int32_t step, int32_t count, int32_t block, int8_t *output)
{
    if (block == 1)
    {
        for (int32_t i = 0, at = 0; i < count; i++, at += step)
        {
            *output++ = input[at];
        }
        return output;
    }
    for (int32_t i = 0, at = 0; i < count; i++, at += step)
    {
        memcpy(output, input + at, (size_t)block);
        output += block;
    }
    return output;
}

arm_cmsis_nn_status glue_strided_copy_s8(const int8_t *input,
                                         const int32_t *dims,
                                         const int32_t *steps,
                                         int32_t rank,
                                         int32_t block,
                                         int8_t *output)
{
    if (rank < 1 || rank > GLUE_MAX_RANK || block < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t axis = 0; axis < rank; axis++)
    {
        if (dims[axis] < 1)
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
    }
    /* The output is written in order; index counts its axes like an odometer, at follows in the input. */
    int32_t index[GLUE_MAX_RANK] = {0};
    const int32_t last = rank - 1;
    int32_t at = 0;
    int32_t axis = 0;
    while (axis >= 0)
    {
        output = copy_row(input + at, steps[last], dims[last], block, output);
        for (axis = last - 1; axis >= 0; axis--)
        {
            at += steps[axis];
            if (++index[axis] < dims[axis])
            {
                break;
            }
            at -= steps[axis] * dims[axis];
            index[axis] = 0;
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
