#include "glue_conv_dsp_tile.h"
#include "glue_dsp.h"

#include <stddef.h>
#include <stdint.h>

typedef void (*tile_function)(const glue_tile_dsp *tile);

/* The channels after the last whole group of four. */
static void last_channels(const glue_conv_dsp_params *params, tile_function run, glue_tile_dsp *tile, int8_t *y)
{
    const int32_t channels = params->output.c % 4, y_step = tile->y_step;
    const int32_t *const stream = tile->stream, *const stream_end = tile->stream_end;
    uint32_t codes[2] = {0, 0};
    tile->stream = stream_end;
    tile->stream_end = stream_end + 12 + 2 * params->steps;
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

arm_cmsis_nn_status
glue_conv_dsp(const glue_conv_dsp_params *params, const int8_t *input, int8_t *output, void *scratch)
{
    const int32_t channels = params->output.c;
    glue_windows_dsp windows;
    glue_tile_dsp tile;
    glue_tile_dsp_clamp(&tile, params->output_zero, &params->activation, params->rectified);
    tile.stream = params->stream;
    tile.stream_end = params->stream + channels / 4 * (12 + 2 * params->steps);
    tile.column = scratch;
    tile.column_end = tile.column + 2 * params->steps;
    glue_conv_dsp_tile_begin(&tile);
    glue_conv_dsp_windows(&windows, params, input);
    while (windows.pixels > 0)
    {
        const int32_t two = glue_conv_dsp_columns(&windows, scratch) > 1;
        const tile_function run = two || params->single == NULL ? glue_conv_dsp_tile : params->single;
        tile.y = output;
        tile.y_step = two ? channels : 0;
        if (channels >= 4)
        {
            run(&tile);
        }
        if (channels % 4 != 0)
        {
            last_channels(params, run, &tile, output + channels / 4 * 4);
        }
        output += 2 * channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
