/*
 * Windows are gathered as rows, a few at a time, and multiplied. Codes outside the image are the fill.
 * Bytes between a window and the next multiple of 16 hold anything: their weights are zero.
 */

#include "glue_mve_lanes.h"
#include "glue_mve_window.h"

/* A window with gaps between its columns, or without a byte in the image: tap by tap. */
static void spread(const glue_conv_mve_layer *layer, const int8_t *x, int32_t y0, int32_t x0, int8_t *to)
{
    const int32_t depth = layer->x_channels;
    for (int32_t ky = 0; ky < layer->kernel.h; ky++)
    {
        const int32_t row = y0 + ky * layer->dilation.h;
        for (int32_t kx = 0; kx < layer->kernel.w; kx++)
        {
            const int32_t column = x0 + kx * layer->dilation.w;
            if (row < 0 || row >= layer->x_height || column < 0 || column >= layer->x_width)
            {
                memset(to, layer->fill, (size_t)depth);
            }
            else
            {
                memcpy(to, x + (row * layer->x_width + column) * depth, (size_t)depth);
            }
            to += depth;
        }
    }
}

/* Windows of the next batch; no batch of less than four follows one of at least eight. */
static inline int32_t next_batch(const glue_conv_mve_layer *layer, int32_t left)
{
    const int32_t rest = left - layer->batch;
    return rest <= 0 ? left : rest < 4 && layer->batch >= 8 ? layer->batch - 4 : layer->batch;
}

arm_cmsis_nn_status glue_conv_walk_mve(const glue_conv_mve_layer *layer,
                                       const int8_t *x,
                                       int8_t *y,
                                       int8_t *scratch,
                                       glue_rows_mve_function *multiply)
{
    const int32_t depth = layer->x_channels;
    int32_t left = layer->y_height * layer->y_width;
    int32_t batch = next_batch(layer, left);
    int32_t gathered = 0;
    glue_mve_windows windows;
    windows.line = layer->kernel.w * depth;
    windows.pitch = layer->dilation.h * layer->x_width * depth;
    windows.step = layer->stride.w * depth;
    windows.width = layer->filter.steps * GLUE_MVE_STEP;
    for (int32_t row = 0; row < layer->y_height; row++)
    {
        const int32_t y0 = row * layer->stride.h - layer->padding.h;
        const glue_span rows = glue_taps_inside(y0, layer->dilation.h, layer->kernel.h, layer->x_height);
        const int32_t line = (y0 + rows.begin * layer->dilation.h) * layer->x_width * depth;
        windows.lines = rows.end - rows.begin;
        int32_t x0 = -layer->padding.w;
        for (int32_t column = 0; column < layer->y_width;)
        {
            const int32_t begin = glue_max(-x0, 0);
            const int32_t end = glue_min(layer->x_width - x0, layer->kernel.w);
            int8_t *to = scratch + gathered * windows.width;
            windows.count = 1;
            if (layer->dilation.w != 1 || windows.lines <= 0 || end <= begin)
            {
                spread(layer, x, y0, x0, to);
            }
            else
            {
                windows.inside = (end - begin) * depth;
                windows.size = 0;
                if (windows.inside == windows.line)
                {
                    windows.count = glue_min(batch - gathered, layer->inside_end - column);
                }
                if (windows.inside != windows.line || windows.lines != layer->kernel.h)
                {
                    windows.size = layer->kernel.h * windows.line;
                }
                windows.skip = rows.begin * windows.line + begin * depth;
                glue_windows_mve(&windows, x + line + (x0 + begin) * depth, to, layer->fill);
            }
            column += windows.count;
            x0 += windows.count * layer->stride.w;
            gathered += windows.count;
            if (gathered == batch)
            {
                glue_mve_multiply(&layer->filter, scratch, windows.width, gathered, y, multiply);
                y += gathered * layer->filter.channels;
                left -= gathered;
                batch = next_batch(layer, left);
                gathered = 0;
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
