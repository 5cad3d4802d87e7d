/* Two pixels times four channels. The assembly twin is glue_conv_dsp_tile.S. */

#include "glue_asm.h"
#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"
#include "glue_requantize_dsp.h"

#if !GLUE_ASM

/* sums: S0 R01 S2 R23. */
static uint32_t outputs(const glue_tile_dsp *tile, const int32_t *sums, const int32_t *scales)
{
    return glue_requantize_dsp_group(sums, scales, tile->zero, tile->form, tile->low, tile->high);
}

static void store_sums(int32_t *y, const int32_t *sums)
{
    for (int32_t i = 0; i < 8; i += 2)
    {
        y[i] = sums[i];
        y[i + 1] = glue_second_sum_dsp(sums + i) >> 8;
    }
}

void glue_conv_dsp_tile(const glue_tile_dsp *tile)
{
    const int32_t *w = tile->stream;
    int8_t *y = tile->y;
    do
    {
        int32_t sums[8];
        memcpy(sums, w, 16);
        memcpy(sums + 4, w, 16);
        w += 4;
        for (const int32_t *x = tile->column; x != tile->column_end; x += 2)
        {
            for (int32_t pair = 0; pair < 2; pair++)
            {
                const uint32_t weights = (uint32_t)*w++;
                for (int32_t pixel = 0; pixel < 2; pixel++)
                {
                    glue_accumulate_dsp(sums + 4 * pixel + 2 * pair, (uint32_t)x[pixel], weights);
                }
            }
        }
        if (tile->form == GLUE_TILE_SUMS)
        {
            store_sums((int32_t *)(void *)y, sums);
            return;
        }
        const uint32_t first = outputs(tile, sums, w), second = outputs(tile, sums + 4, w);
        w += 8;
        glue_store32(y + tile->y_step, second);
        glue_store32(y, first);
        y += 4;
    } while (w != tile->stream_end);
}

#endif
