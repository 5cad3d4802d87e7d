/* One pixel times eight channels. The assembly twin is glue_dense_dsp_tile.S. */

#include "glue_asm.h"
#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"
#include "glue_requantize_dsp.h"

#include <stddef.h>

#if GLUE_ASM

_Static_assert(offsetof(glue_tile_dsp, tail) == 52, "glue_tile_dsp_asm.h knows the layout");

#else

/* Four codes at a time, from x to its end; returns how far the weights have come. */
static const int32_t *accumulate(const int32_t *x, const int32_t *end, const int32_t *w, int32_t *sums)
{
    for (; x != end; x++)
    {
        const uint32_t codes = glue_load32(x);
        for (int32_t i = 0; i < 8; i += 2)
        {
            glue_accumulate_dsp(sums + i, glue_sxtb16(codes), (uint32_t)*w++);
        }
        for (int32_t i = 0; i < 8; i += 2)
        {
            glue_accumulate_dsp(sums + i, glue_sxtb16_odd(codes), (uint32_t)*w++);
        }
    }
    return w;
}

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
        w = accumulate(tile->column, tile->column_end, w + 8, sums);
        w = accumulate(tile->tail, tile->tail_end, w, sums);
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
