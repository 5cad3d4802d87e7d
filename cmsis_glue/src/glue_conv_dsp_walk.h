/* The way through a convolution by pairs of pixels, for all kinds of weights. Not for generated code. */

#ifndef GLUE_CONV_DSP_WALK_H
#define GLUE_CONV_DSP_WALK_H

#include "glue_conv_dsp_tile.h"
#include "glue_dsp.h"

#include <stddef.h>
#include <stdint.h>

typedef void (*glue_tile_function)(const glue_tile_dsp *tile);

/* The channels after the last whole group of four, whose stream has so many words. */
static inline void glue_last_channels_dsp(
    const glue_conv_dsp_params *params, glue_tile_function run, glue_tile_dsp *tile, int32_t words, int8_t *y)
{
    const int32_t channels = params->output.c % 4, y_step = tile->y_step;
    const int32_t *const stream = tile->stream, *const stream_end = tile->stream_end;
    uint32_t codes[2] = {0, 0};
    tile->stream = stream_end;
    tile->stream_end = stream_end + words;
    tile->y = (int8_t *)(void *)codes;
    tile->y_step = 4;
    run(tile);
    for (int32_t i = 0; i < channels; i++)
    {
        y[i + y_step] = (int8_t)(uint8_t)(codes[1] >> 8 * i);
        y[i] = (int8_t)(uint8_t)(codes[0] >> 8 * i);
    }
    tile->stream = stream;
    tile->stream_end = stream_end;
}

/* Fills zero, low, high and form of the tile, stream and column, which has steps for two pixels. */
static inline void
glue_tile_of_dsp(glue_tile_dsp *tile, const glue_conv_dsp_params *params, int32_t words, void *scratch)
{
    glue_tile_dsp_clamp(tile, params->output_zero, &params->activation, params->rectified);
    tile->stream = params->stream;
    tile->stream_end = params->stream + params->output.c / 4 * words;
    tile->column = scratch;
    tile->column_end = tile->column + 2 * params->steps;
}

/* Outputs of one or two pixels whose windows are in the column. */
static inline void glue_pixels_dsp(const glue_conv_dsp_params *params,
                                   glue_tile_dsp *tile,
                                   int32_t two,
                                   glue_tile_function pair,
                                   int32_t words,
                                   int8_t *output)
{
    const int32_t channels = params->output.c;
    const glue_tile_function run = two || params->single == NULL ? pair : params->single;
    tile->y = output;
    tile->y_step = two ? channels : 0;
    if (channels >= 4)
    {
        run(tile);
    }
    if (channels % 4 != 0)
    {
        glue_last_channels_dsp(params, run, tile, words, output + channels / 4 * 4);
    }
}

#endif /* GLUE_CONV_DSP_WALK_H */
