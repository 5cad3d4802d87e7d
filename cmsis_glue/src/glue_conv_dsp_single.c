/* One pixel times four channels. The assembly twin is glue_conv_dsp_single.S. */

#include "glue_asm.h"
#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"
#include "glue_requantize_dsp.h"

#if !GLUE_ASM

void glue_conv_dsp_single(const glue_tile_dsp *tile)
{
    const int32_t *w = tile->stream;
    int8_t *y = tile->y;
    do
    {
        int32_t sums[4];
        memcpy(sums, w, sizeof sums);
        w += 4;
        for (const int32_t *x = tile->column; x != tile->column_end; x += 2)
        {
            glue_accumulate_dsp(sums, (uint32_t)*x, (uint32_t)w[0]);
            glue_accumulate_dsp(sums + 2, (uint32_t)*x, (uint32_t)w[1]);
            w += 2;
        }
        glue_store32(y, glue_requantize_dsp_group(sums, w, tile->zero, tile->form, tile->low, tile->high));
        w += 8;
        y += 4;
    } while (w != tile->stream_end);
}

#endif
