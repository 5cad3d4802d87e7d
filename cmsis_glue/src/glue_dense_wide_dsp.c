#include "glue_conv_dsp_tile.h"
#include "glue_dsp.h"
#include "glue_dsp_intrinsics.h"
#include "glue_internal.h"

#include <stdint.h>
#include <string.h>

/* Sums of eight channels, chunks of `chunk` words after one another; returns where the group ends in the stream. */
static const int32_t *sums_of_group(int32_t chunk, const int32_t *stream, const glue_tile_dsp *whole, int32_t *sums)
{
    const int32_t codes = (int32_t)(whole->column_end - whole->column);
    const int32_t words = codes + (int32_t)(whole->tail_end - whole->tail);
    int32_t part[8];
    glue_tile_dsp tile;
    tile.form = GLUE_TILE_SUMS;
    tile.y = (int8_t *)(void *)part;
    memset(sums, 0, sizeof part);
    for (int32_t begin = 0; begin < words; begin += chunk)
    {
        const int32_t end = glue_min(begin + chunk, words);
        tile.stream = stream;
        tile.column = whole->column + glue_min(begin, codes);
        tile.column_end = whole->column + glue_min(end, codes);
        tile.tail = whole->tail + glue_max(begin - codes, 0);
        tile.tail_end = whole->tail + glue_max(end - codes, 0);
        glue_dense_dsp_tile(&tile);
        stream += 8 + 8 * (end - begin);
        for (int32_t i = 0; i < 8; i++)
        {
            sums[i] = glue_add_modulo(sums[i], part[i]);
        }
    }
    return stream;
}

arm_cmsis_nn_status
glue_dense_wide_dsp(const glue_dense_wide_dsp_params *params, const int8_t *input, int8_t *output, void *scratch)
{
    const glue_dense_dsp_params *dense = &params->dense;
    const int32_t *stream = dense->stream;
    glue_tile_dsp whole;
    glue_dense_dsp_column(dense, input, scratch, &whole);
    for (int32_t c = 0; c < dense->channels; c += 8)
    {
        int32_t sums[8];
        stream = sums_of_group(params->chunk / 2, stream, &whole, sums);
        for (int32_t i = 0; i < glue_min(8, dense->channels - c); i++)
        {
            const int32_t sum = glue_add_modulo(sums[i], params->biases[c + i]);
            const int32_t code = glue_requantize(sum, params->multipliers[c + i], params->shifts[c + i]);
            output[c + i] = glue_clamp_s8(code + dense->output_zero, dense->activation.min, dense->activation.max);
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
