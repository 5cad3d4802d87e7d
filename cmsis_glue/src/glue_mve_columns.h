/* The C form of glue_conv_3x3_mve(), for weights of any width. */

#ifndef GLUE_MVE_COLUMNS_H
#define GLUE_MVE_COLUMNS_H

#include "glue_mve_lanes_s4.h"

#include <stddef.h>

/* Words of a stream before the weights of two channels and behind them; taps in one step. */
#define BIASES 8
#define SCALES 6
#define TAPS 9

/* Outputs of a tile, the columns that they read, and bytes of such a line in one step. */
#define TILE 4
#define COLUMNS 6
#define LINE (COLUMNS * GLUE_MVE_STEP)

/*
 * Copies a line of the image for the tile at `column`. kept: of every line, the last column of the tile before, which
 * may be overwritten; that of this tile takes its place. NULL: nothing is overwritten.
 */
static inline void glue_columns_line(const glue_conv_3x3_mve_layer *layer,
                                     const int8_t *x,
                                     int32_t row,
                                     int32_t column,
                                     int8_t *kept,
                                     int8_t *line)
{
    const int32_t depth = layer->steps * GLUE_MVE_STEP;
    const int32_t inside = row >= 0 && row < layer->x_height;
    for (int32_t step = 0; step < depth; step += GLUE_MVE_STEP)
    {
        for (int32_t i = 0; i < COLUMNS; i++)
        {
            const int32_t at = column - layer->left + i;
            if (!inside || at < 0 || at >= layer->x_width)
            {
                memset(line + i * GLUE_MVE_STEP, layer->fill, GLUE_MVE_STEP);
            }
            else
            {
                memcpy(line + i * GLUE_MVE_STEP, x + (row * layer->x_width + at) * depth + step, GLUE_MVE_STEP);
            }
        }
        if (inside && kept != NULL)
        {
            memcpy(line, kept + row * depth + step, GLUE_MVE_STEP);
            memcpy(kept + row * depth + step, line + TILE * GLUE_MVE_STEP, GLUE_MVE_STEP);
        }
        line += LINE;
    }
}

/* Output of two channels at one position of a tile; returns what follows them in the stream. */
static inline const int32_t *glue_columns_pair(const glue_conv_3x3_mve_layer *layer,
                                               int8_t *const lines[3],
                                               int32_t position,
                                               const int32_t *stream,
                                               int8_t *y,
                                               int32_t bits)
{
    int32_t sums[GLUE_MVE_LANES] = {stream[0], stream[GLUE_MVE_LANES], 0, 0};
    const int8_t *w = (const int8_t *)(stream + BIASES);
    for (int32_t step = 0; step < layer->steps; step++)
    {
        for (int32_t k = 0; k < TAPS; k++)
        {
            const int8_t *codes = lines[k / 3] + step * LINE + (position + k % 3) * GLUE_MVE_STEP;
            glue_mve_accumulate_pair(sums, codes, w, bits);
            w += GLUE_MVE_STEP * bits / 4;
        }
    }
    glue_mve_separate_pair(sums, bits);
    const int32_t *scales = stream + BIASES + layer->steps * TAPS * GLUE_MVE_STEP * bits / 16;
    const glue_mve_scale scale = {{0, 0, 0, 0}, {scales[0], scales[1], 0, 0}, {scales[3], scales[4], 0, 0}};
    const glue_filter_mve bounds = {.zero_point = scales[5], .low = INT8_MIN, .high = INT8_MAX};
    glue_mve_store(&bounds, sums, &scale, y, 1, 2);
    return scales + SCALES;
}

/* Four outputs of a line, all channels. */
static inline void
glue_columns_tile(const glue_conv_3x3_mve_layer *layer, int8_t *const lines[3], int8_t *y, int32_t bits)
{
    for (int32_t position = 0; position < TILE; position++)
    {
        const int32_t *stream = layer->stream;
        for (int32_t c = 0; c < layer->channels; c += 2)
        {
            int8_t *const to = y + position * layer->channels + c;
            stream = glue_columns_pair(layer, lines, position, stream, to, bits);
        }
    }
}

/* bits: of a weight, 8 or 4. */
static inline arm_cmsis_nn_status glue_columns_mve(
    const glue_conv_3x3_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch, int32_t bits)
{
    const int32_t depth = layer->steps * GLUE_MVE_STEP;
    int8_t *lines[3] = {scratch, scratch + layer->steps * LINE, scratch + 2 * layer->steps * LINE};
    int8_t *const kept = scratch + 3 * layer->steps * LINE;
    if (layer->in_place)
    {
        memset(kept, layer->fill, (size_t)(layer->x_height * depth));
    }
    for (int32_t column = 0; column < layer->y_width; column += TILE)
    {
        const int32_t first = glue_min(column, layer->y_width - TILE);
        for (int32_t row = -layer->top; row < layer->y_height - layer->top + 2; row++)
        {
            int8_t *const oldest = lines[0];
            lines[0] = lines[1];
            lines[1] = lines[2];
            lines[2] = oldest;
            glue_columns_line(layer, x, row, first, layer->in_place ? kept : NULL, oldest);
            const int32_t output = row + layer->top - 2;
            if (output >= 0)
            {
                glue_columns_tile(layer, lines, y + (output * layer->y_width + first) * layer->channels, bits);
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* GLUE_MVE_COLUMNS_H */
