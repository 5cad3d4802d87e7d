/* Over the outputs of a depthwise convolution, position after position. Not for generated code. */

#ifndef GLUE_DEPTHWISE_WALK_MVE_H
#define GLUE_DEPTHWISE_WALK_MVE_H

#include "glue_internal.h"
#include "glue_mve.h"

/* The taps of one output position that lie inside the image. */
typedef struct
{
    const int8_t *x; /* first channel of the first of them */
    const int8_t *weights;
    int32_t rows;
    int32_t columns;
    int32_t x_column; /* distances in bytes */
    int32_t x_row;
    int32_t weights_column;
    int32_t weights_row;
} glue_depthwise_window_mve;

/* All channels of one output position. */
typedef void
glue_depthwise_position_mve(const glue_depthwise_mve_params *layer, const glue_depthwise_window_mve *at, int8_t *y);

static inline void glue_depthwise_walk_mve(const glue_depthwise_mve_params *layer,
                                           const int8_t *x,
                                           int8_t *y,
                                           int32_t code_bytes,
                                           glue_depthwise_position_mve *run)
{
    const int32_t pixel = layer->input.c * code_bytes;
    const int32_t line = layer->input.w * pixel;
    glue_depthwise_window_mve at;
    at.x_column = layer->dilation.w * pixel;
    at.x_row = layer->dilation.h * line;
    at.weights_column = layer->output.c;
    at.weights_row = layer->kernel.w * layer->output.c;
    for (int32_t n = 0; n < layer->input.n; n++)
    {
        for (int32_t oy = 0; oy < layer->output.h; oy++)
        {
            const int32_t top = oy * layer->stride.h - layer->padding.h;
            const glue_span rows = glue_taps_inside(top, layer->dilation.h, layer->kernel.h, layer->input.h);
            at.rows = rows.end - rows.begin;
            for (int32_t ox = 0; ox < layer->output.w; ox++)
            {
                const int32_t left = ox * layer->stride.w - layer->padding.w;
                const glue_span columns = glue_taps_inside(left, layer->dilation.w, layer->kernel.w, layer->input.w);
                at.columns = columns.end - columns.begin;
                at.x = x;
                at.weights = layer->weights;
                if (at.rows > 0 && at.columns > 0)
                {
                    at.x += top * line + rows.begin * at.x_row + left * pixel + columns.begin * at.x_column;
                    at.weights += rows.begin * at.weights_row + columns.begin * at.weights_column;
                }
                run(layer, &at, y);
                y += layer->output.c * code_bytes;
            }
        }
        x += layer->input.h * line;
    }
}

#endif /* GLUE_DEPTHWISE_WALK_MVE_H */
