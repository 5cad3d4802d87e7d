#include "glue_conv_dsp_tile.h"
#include "glue_dsp.h"
#include "glue_dsp_intrinsics.h"
#include "glue_internal.h"

#include <stdint.h>
#include <string.h>

/* Sums of four channels of two pixels, chunk after chunk; returns where the group ends in the stream. */
static const int32_t *
sums_of_group(const glue_conv_wide_dsp_params *params, const int32_t *stream, const int32_t *column, int32_t *sums)
{
    int32_t part[8];
    glue_tile_dsp tile;
    tile.form = GLUE_TILE_SUMS;
    tile.y = (int8_t *)(void *)part;
    memset(sums, 0, sizeof part);
    for (int32_t begin = 0; begin < params->conv.steps; begin += params->chunk)
    {
        const int32_t steps = glue_min(params->chunk, params->conv.steps - begin);
        tile.stream = stream;
        tile.column = column + 2 * begin;
        tile.column_end = tile.column + 2 * steps;
        glue_conv_dsp_tile_begin(&tile);
        glue_conv_dsp_tile(&tile);
        stream += 4 + 2 * steps;
        for (int32_t i = 0; i < 8; i++)
        {
            sums[i] = glue_add_modulo(sums[i], part[i]);
        }
    }
    return stream;
}

arm_cmsis_nn_status
glue_conv_wide_dsp(const glue_conv_wide_dsp_params *params, const int8_t *input, int8_t *output, void *scratch)
{
    const glue_conv_dsp_params *conv = &params->conv;
    const int32_t channels = conv->output.c;
    glue_windows_dsp windows;
    glue_conv_dsp_windows(&windows, conv, input);
    while (windows.pixels > 0)
    {
        const int32_t pixels = glue_conv_dsp_columns(&windows, scratch);
        const int32_t *stream = conv->stream;
        for (int32_t c = 0; c < channels; c += 4)
        {
            int32_t sums[8];
            stream = sums_of_group(params, stream, scratch, sums);
            for (int32_t i = 0; i < 8; i++)
            {
                const int32_t channel = c + i % 4;
                if (channel < channels && i / 4 < pixels)
                {
                    const int32_t sum = glue_add_modulo(sums[i], params->biases[channel]);
                    const int32_t code = glue_requantize(sum, params->multipliers[channel], params->shifts[channel]);
                    output[i / 4 * channels + channel] =
                        glue_clamp_s8(code + conv->output_zero, conv->activation.min, conv->activation.max);
                }
            }
        }
        output += 2 * channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
