#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"

/* The codes of a pair, in the even bytes. */
static uint32_t pair_of(const int8_t *x, int32_t words, const uint32_t *tail, int32_t pair)
{
    const uint32_t codes = pair / 2 < words ? glue_load32(x + pair / 2 * 4) : tail[0];
    return codes >> 8 * (pair % 2) & 0x00FF00FFU;
}

void glue_dense_dsp_column(const glue_dense_dsp_params *params, const int8_t *x, uint32_t *tail, glue_tile_dsp *tile)
{
    const int32_t words = params->depth / 4, rest = params->depth % 4;
    uint32_t *end = tail;
    if (rest != 0)
    {
        *end = 0;
        for (int32_t i = 0; i < rest; i++)
        {
            *end |= (uint32_t)(uint8_t)x[4 * words + i] << 8 * i;
        }
        end++;
    }
    for (int32_t i = 0; i < params->extra_count; i += 2)
    {
        *end++ = pair_of(x, words, tail, params->extra[i]) | pair_of(x, words, tail, params->extra[i + 1]) << 8;
    }
    tile->column = (const int32_t *)(const void *)x;
    tile->column_end = tile->column + words;
    tile->tail = (const int32_t *)tail;
    tile->tail_end = (const int32_t *)end;
}
