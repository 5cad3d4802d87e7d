#include "glue_conv_dsp_tile.h"
#include "glue_dsp.h"

#include <stdint.h>

arm_cmsis_nn_status
glue_dense_dsp(const glue_dense_dsp_params *params, const int8_t *input, int8_t *output, void *scratch)
{
    const int32_t channels = params->channels, rest = channels % 8;
    glue_tile_dsp tile;
    glue_tile_dsp_clamp(&tile, params->output_zero, &params->activation, 0);
    glue_dense_dsp_column(params, input, scratch, &tile);
    const int32_t words = (int32_t)(tile.column_end - tile.column) + (int32_t)(tile.tail_end - tile.tail);
    const int32_t group = 24 + 8 * words;
    tile.y = output;
    tile.stream = params->stream;
    tile.stream_end = tile.stream + channels / 8 * group;
    if (channels >= 8)
    {
        glue_dense_dsp_tile(&tile);
    }
    if (rest != 0)
    {
        uint32_t codes[2];
        tile.stream = tile.stream_end;
        tile.stream_end = tile.stream + group;
        tile.y = (int8_t *)(void *)codes;
        glue_dense_dsp_tile(&tile);
        for (int32_t i = 0; i < rest; i++)
        {
            output[channels - rest + i] = (int8_t)(uint8_t)(codes[i / 4] >> i % 4 * 8);
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
