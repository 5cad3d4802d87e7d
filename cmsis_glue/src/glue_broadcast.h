/* What operators on two tensors share whose dimensions may differ: the walk over rows of codes. */

#ifndef GLUE_BROADCAST_H
#define GLUE_BROADCAST_H

#include "glue.h"
#include "glue_internal.h"

#include <string.h>

/* Codes of a repeated operand that are written out at a time. */
#define GLUE_BROADCAST_CHUNK 64

/* One operation on size codes that lie next to each other; output may be a or b. */
typedef arm_cmsis_nn_status (*glue_row)(const void *params,
                                        const int8_t *a,
                                        const int8_t *b,
                                        int8_t *output,
                                        int32_t size);

static inline int glue_broadcast_valid(const glue_broadcast_dims *loops)
{
    if (loops->rank < 1 || loops->rank > GLUE_MAX_RANK)
    {
        return 0;
    }
    for (int32_t axis = 0; axis < loops->rank; axis++)
    {
        if (loops->dims[axis] < 1)
        {
            return 0;
        }
    }
    return 1;
}

/* One row; an operand whose step is 0 is a single code. */
static inline arm_cmsis_nn_status glue_broadcast_row(glue_row row,
                                                     const void *params,
                                                     const int8_t *a,
                                                     int32_t a_step,
                                                     const int8_t *b,
                                                     int32_t b_step,
                                                     int8_t *output,
                                                     int32_t size)
{
    if (a_step != 0 && b_step != 0)
    {
        return row(params, a, b, output, size);
    }
    int8_t repeated_a[GLUE_BROADCAST_CHUNK];
    int8_t repeated_b[GLUE_BROADCAST_CHUNK];
    memset(repeated_a, *a, sizeof(repeated_a));
    memset(repeated_b, *b, sizeof(repeated_b));
    arm_cmsis_nn_status status = ARM_CMSIS_NN_SUCCESS;
    for (int32_t at = 0; at < size && status == ARM_CMSIS_NN_SUCCESS; at += GLUE_BROADCAST_CHUNK)
    {
        status = row(params,
                     a_step != 0 ? a + at : repeated_a,
                     b_step != 0 ? b + at : repeated_b,
                     output + at,
                     glue_min(size - at, GLUE_BROADCAST_CHUNK));
    }
    return status;
}

/* All rows: index counts the axes but the last one like an odometer, a and b follow. */
static inline arm_cmsis_nn_status glue_broadcast(const glue_broadcast_dims *loops,
                                                 glue_row row,
                                                 const void *params,
                                                 const int8_t *a,
                                                 const int8_t *b,
                                                 int8_t *output)
{
    if (!glue_broadcast_valid(loops))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    int32_t index[GLUE_MAX_RANK] = {0};
    const int32_t last = loops->rank - 1;
    const int32_t size = loops->dims[last];
    int32_t axis = 0;
    while (axis >= 0)
    {
        const arm_cmsis_nn_status status =
            glue_broadcast_row(row, params, a, loops->a_steps[last], b, loops->b_steps[last], output, size);
        if (status != ARM_CMSIS_NN_SUCCESS)
        {
            return status;
        }
        output += size;
        for (axis = last - 1; axis >= 0; axis--)
        {
            a += loops->a_steps[axis];
            b += loops->b_steps[axis];
            if (++index[axis] < loops->dims[axis])
            {
                break;
            }
            a -= loops->a_steps[axis] * loops->dims[axis];
            b -= loops->b_steps[axis] * loops->dims[axis];
            index[axis] = 0;
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* GLUE_BROADCAST_H */
