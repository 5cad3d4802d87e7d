/* One pixel times eight channels. The assembly twin is glue_dense_dsp_tile.S. */

#include "glue_asm.h"
#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"
#include "glue_requantize_dsp.h"

#if !GLUE_ASM

static void store_sums(int32_t *y, const int32_t *sums)
{
    for (int32_t i = 0; i < 8; i += 2)
    {
        y[i] = sums[i];
        y[i + 1] = glue_second_sum_dsp(sums + i) >> 8;
    }
}

void glue_dense_dsp_tile(const glue_tile_dsp *tile)
{
    const int32_t *w = tile->stream;
    int8_t *y = tile->y;
    do
    {
        int32_t sums[8];
        memcpy(sums, w, sizeof sums);
        w += 8;
        for (const int32_t *x = tile->column; x != tile->column_end; x++)
        {
            for (int32_t i = 0; i < 8; i += 2)
            {
                glue_accumulate_dsp(sums + i, (uint32_t)*x, (uint32_t)*w++);
            }
        }
        if (tile->form == GLUE_TILE_SUMS)
        {
            store_sums((int32_t *)(void *)y, sums);
            return;
        }
        for (int32_t i = 0; i < 8; i += 4)
        {
            const uint32_t codes =
                glue_requantize_dsp_group(sums + i, w + 2 * i, tile->zero, tile->form, tile->low, tile->high);
            glue_store32(y + i, codes);
        }
        y += 8;
        w += 16;
    } while (w != tile->stream_end);
}

#endif
