/* Where the windows of a pool lie; shared by the pools. */

#ifndef GLUE_POOL_MVE_H
#define GLUE_POOL_MVE_H

#include "glue_mve.h"

#include "glue_internal.h"

#define GLUE_POOL_LANES 16

/* The cells of one window inside the image. */
typedef struct
{
    const int8_t *x; /* first channel of the first of them */
    int32_t rows;
    int32_t columns;
    int32_t pixel_step;
    int32_t row_step;
    int32_t counted; /* cells that count for the mean */
} glue_pool_window;

/* What a pool does with one output position. */
typedef void (*glue_pool_function)(const glue_pool_mve_params *pool, const glue_pool_window *at, int8_t *y);

/* Cells of a window of `size` at `start` along an axis of `length` followed by `after` padding cells. */
static inline int32_t glue_pool_counted(int32_t start, int32_t size, int32_t length, int32_t after)
{
    return glue_min(start + size, length + after) - start;
}

/* Calls `run` for every output position, in order. */
static inline arm_cmsis_nn_status
glue_pool_positions(const glue_pool_mve_params *pool, const int8_t *x, int8_t *y, glue_pool_function run)
{
    const cmsis_nn_dims *in = &pool->input;
    glue_pool_window at;
    at.pixel_step = in->c;
    at.row_step = in->w * in->c;
    for (int32_t n = 0; n < in->n; n++)
    {
        for (int32_t oy = 0; oy < pool->output.h; oy++)
        {
            const int32_t top = oy * pool->stride.h - pool->padding.h;
            const glue_span rows = glue_taps_inside(top, 1, pool->kernel.h, in->h);
            for (int32_t ox = 0; ox < pool->output.w; ox++)
            {
                const int32_t left = ox * pool->stride.w - pool->padding.w;
                const glue_span columns = glue_taps_inside(left, 1, pool->kernel.w, in->w);
                at.rows = rows.end - rows.begin;
                at.columns = columns.end - columns.begin;
                if (at.rows < 1 || at.columns < 1)
                {
                    return ARM_CMSIS_NN_ARG_ERROR;
                }
                at.x = x + (top + rows.begin) * at.row_step + (left + columns.begin) * in->c;
                at.counted = at.rows * at.columns;
                if (pool->count_padding != 0)
                {
                    at.counted = glue_pool_counted(top, pool->kernel.h, in->h, pool->padding_end.h) *
                                 glue_pool_counted(left, pool->kernel.w, in->w, pool->padding_end.w);
                }
                run(pool, &at, y);
                y += in->c;
            }
        }
        x += in->h * at.row_step;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* GLUE_POOL_MVE_H */
