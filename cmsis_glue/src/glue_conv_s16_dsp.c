#include "glue_conv_s16_dsp_tile.h"

#include <stdint.h>
#include <string.h>

typedef void (*tile_function)(const glue_tile_dsp *tile);

/* The channels after the last whole group of four. */
static void
last_channels(const glue_conv_s16_dsp_params *params, tile_function run, glue_tile_dsp *tile, int16_t *y, int32_t pixels)
{
    const int32_t channels = params->layer.output.c;
    glue_tile_dsp last = *tile;
    int16_t codes[8];
    last.stream = tile->stream_end;
    last.stream_end = last.stream + 12 + 2 * params->steps;
    last.y = (int8_t *)(void *)codes;
    last.y_step = 8;
    run(&last);
    for (int32_t i = 0; i < pixels; i++)
    {
        memcpy(y + i * channels, codes + 4 * i, (size_t)(2 * (channels % 4)));
    }
}

arm_cmsis_nn_status
glue_conv_s16_dsp(const glue_conv_s16_dsp_params *params, const int16_t *input, int16_t *output, void *scratch)
{
    const int32_t channels = params->layer.output.c;
    glue_windows_s16_dsp windows;
    glue_tile_dsp tile;
    glue_conv_s16_dsp_clamp(&tile, &params->layer.activation);
    tile.stream = params->stream;
    tile.stream_end = params->stream + channels / 4 * (12 + 2 * params->steps);
    tile.column = scratch;
    tile.column_end = tile.column + 2 * params->steps;
    tile.y_step = 2 * channels;
    glue_conv_s16_dsp_tile_begin(&tile);
    glue_conv_s16_dsp_windows(&windows, &params->layer, input);
    while (windows.pixels > 0)
    {
        const int32_t pixels = glue_conv_s16_dsp_columns(&windows, scratch);
        const tile_function run = pixels > 1 ? glue_conv_s16_dsp_tile : glue_conv_s16_dsp_single;
        tile.column_end = tile.column + pixels * params->steps;
        tile.y = (int8_t *)(void *)output;
        if (channels >= 4)
        {
            run(&tile);
        }
        if (channels % 4 != 0)
        {
            last_channels(params, run, &tile, output + channels / 4 * 4, pixels);
        }
        output += pixels * channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
