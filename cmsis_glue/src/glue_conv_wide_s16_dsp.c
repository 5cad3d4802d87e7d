#include "glue_conv_s16_dsp_tile.h"
#include "glue_wide_internal.h"

#include <stdint.h>
#include <string.h>

/* Sums of four channels of the pixels, chunk after chunk; returns where the group ends in the stream. */
static const int32_t *sums_of_group(const glue_conv_s16_dsp_params *params,
                                    const int32_t *stream,
                                    const int32_t *column,
                                    int32_t pixels,
                                    int64_t *sums)
{
    int32_t part[8];
    glue_tile_dsp tile;
    tile.form = GLUE_TILE_SUMS;
    tile.y = (int8_t *)(void *)part;
    memset(sums, 0, 8 * sizeof *sums);
    for (int32_t begin = 0; begin < params->steps; begin += params->chunk)
    {
        const int32_t steps = glue_min(params->chunk, params->steps - begin);
        tile.stream = stream;
        tile.column = column + pixels * begin;
        tile.column_end = tile.column + pixels * steps;
        if (pixels > 1)
        {
            glue_conv_s16_dsp_tile_begin(&tile);
            glue_conv_s16_dsp_tile(&tile);
        }
        else
        {
            glue_conv_s16_dsp_single(&tile);
        }
        stream += 4 + 2 * steps;
        for (int32_t i = 0; i < 4 * pixels; i++)
        {
            sums[i] += part[i];
        }
    }
    return stream;
}

arm_cmsis_nn_status
glue_conv_wide_s16_dsp(const glue_conv_s16_dsp_params *params, const int16_t *input, int16_t *output, void *scratch)
{
    const int32_t channels = params->layer.output.c;
    glue_windows_s16_dsp windows;
    glue_conv_s16_dsp_windows(&windows, &params->layer, input);
    while (windows.pixels > 0)
    {
        const int32_t pixels = glue_conv_s16_dsp_columns(&windows, scratch);
        const int32_t *stream = params->stream;
        for (int32_t c = 0; c < channels; c += 4)
        {
            int64_t sums[8];
            stream = sums_of_group(params, stream, scratch, pixels, sums);
            for (int32_t i = 0; i < 4 * pixels; i++)
            {
                const int32_t channel = c + i % 4;
                if (channel < channels)
                {
                    output[i / 4 * channels + channel] = glue_finish_s16(&params->layer, sums[i], channel);
                }
            }
        }
        output += pixels * channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
