/* The walk over windows that pools of int16 codes share. */

#ifndef GLUE_POOL_S16_H
#define GLUE_POOL_S16_H

#include "glue_wide_internal.h"

/* One window: where it starts, and which of its cells are inside the image. */
typedef struct
{
    int32_t y;
    int32_t x;
    glue_span rows;
    glue_span columns;
} glue_window_s16;

static inline glue_window_s16 glue_place_window_s16(const glue_pool_s16_params *p, int32_t oy, int32_t ox)
{
    glue_window_s16 window;
    window.y = oy * p->stride.h - p->padding.h;
    window.x = ox * p->stride.w - p->padding.w;
    window.rows = glue_taps_inside(window.y, 1, p->window.h, p->input.h);
    window.columns = glue_taps_inside(window.x, 1, p->window.w, p->input.w);
    return window;
}

static inline int glue_pool_valid_s16(const glue_pool_s16_params *p)
{
    return glue_dims_valid(&p->input, &p->output) && p->input.c == p->output.c;
}

#endif /* GLUE_POOL_S16_H */
