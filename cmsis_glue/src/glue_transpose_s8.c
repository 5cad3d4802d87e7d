#include "glue.h"

/* Fills the dimensions of the output and how far one step along each of its axes moves in the input. */
static arm_cmsis_nn_status plan_walk(const int32_t *input_dims,
                                     const int32_t *permutation,
                                     int32_t rank,
                                     int32_t *output_dims,
                                     int32_t *input_steps)
{
    if (rank < 1 || rank > GLUE_MAX_RANK)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    int32_t strides[GLUE_MAX_RANK];
    int32_t stride = 1;
    for (int32_t axis = rank - 1; axis >= 0; axis--)
    {
        if (input_dims[axis] < 1)
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
        strides[axis] = stride;
        stride *= input_dims[axis];
    }
    uint32_t seen = 0;
    for (int32_t axis = 0; axis < rank; axis++)
    {
        const int32_t from = permutation[axis];
        if (from < 0 || from >= rank || (seen >> from & 1u) != 0)
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
        seen |= UINT32_C(1) << from;
        output_dims[axis] = input_dims[from];
        input_steps[axis] = strides[from];
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status glue_transpose_s8(const int8_t *input,
                                      const int32_t *input_dims,
                                      const int32_t *permutation,
                                      int32_t rank,
                                      int8_t *output)
{
    int32_t dims[GLUE_MAX_RANK];
    int32_t steps[GLUE_MAX_RANK];
    const arm_cmsis_nn_status status = plan_walk(input_dims, permutation, rank, dims, steps);
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return status;
    }
    /* The output is written in order; index counts its axes like an odometer. */
    int32_t index[GLUE_MAX_RANK] = {0};
    const int32_t last = rank - 1;
    int32_t axis = 0;
    while (axis >= 0)
    {
        const int8_t *from = input;
        for (int32_t i = 0; i < dims[last]; i++)
        {
            *output++ = *from;
            from += steps[last];
        }
        for (axis = last - 1; axis >= 0; axis--)
        {
            input += steps[axis];
            if (++index[axis] < dims[axis])
            {
                break;
            }
            input -= steps[axis] * dims[axis];
            index[axis] = 0;
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
