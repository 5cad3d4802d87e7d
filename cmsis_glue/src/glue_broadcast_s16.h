/* The walk over two int16 operands that broadcast, row by row. */

#ifndef GLUE_BROADCAST_S16_H
#define GLUE_BROADCAST_S16_H

#include "glue_wide_internal.h"

/* Where a row of the operands begins; index counts the axes but the last one like an odometer. */
typedef struct
{
    int32_t index[GLUE_MAX_RANK];
    int32_t a;
    int32_t b;
} glue_rows_s16;

static inline int glue_loops_valid_s16(const glue_broadcast_dims *loops)
{
    int valid = loops->rank >= 1 && loops->rank <= GLUE_MAX_RANK;
    for (int32_t axis = 0; valid && axis < loops->rank; axis++)
    {
        valid = loops->dims[axis] >= 1;
    }
    return valid;
}

/* Moves to the next row; 0 after the last one. */
static inline int glue_next_row_s16(const glue_broadcast_dims *loops, glue_rows_s16 *at)
{
    for (int32_t axis = loops->rank - 2; axis >= 0; axis--)
    {
        at->a += loops->a_steps[axis];
        at->b += loops->b_steps[axis];
        if (++at->index[axis] < loops->dims[axis])
        {
            return 1;
        }
        at->a -= loops->a_steps[axis] * loops->dims[axis];
        at->b -= loops->b_steps[axis] * loops->dims[axis];
        at->index[axis] = 0;
    }
    return 0;
}

#endif /* GLUE_BROADCAST_S16_H */
