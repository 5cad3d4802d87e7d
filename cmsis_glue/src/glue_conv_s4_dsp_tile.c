/* Two pixels, or one, times four channels. The assembly twin is glue_conv_s4_dsp_tile.S. */

#include "glue_asm.h"
#include "glue_conv_s4_dsp.h"
#include "glue_s4.h"

#if !GLUE_ASM

void glue_conv_s4_dsp_begin(glue_tile_dsp *tile)
{
    (void)tile;
}

static uint32_t outputs(const glue_tile_dsp *tile, int32_t *sums, const int32_t *scales)
{
    glue_separate_s4_dsp(sums);
    return glue_requantize_dsp_group(sums, scales, tile->zero, tile->form, tile->low, tile->high);
}

void glue_conv_s4_dsp_tile(const glue_tile_dsp *tile)
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
            const uint32_t weights = (uint32_t)*w++;
            glue_accumulate_s4_dsp(sums, (uint32_t)x[0], weights);
            glue_accumulate_s4_dsp(sums + 4, (uint32_t)x[1], weights);
        }
        const uint32_t first = outputs(tile, sums, w), second = outputs(tile, sums + 4, w);
        w += 8;
        glue_store32(y + tile->y_step, second);
        glue_store32(y, first);
        y += 4;
    } while (w != tile->stream_end);
}

void glue_conv_s4_dsp_single(const glue_tile_dsp *tile)
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
            glue_accumulate_s4_dsp(sums, (uint32_t)*x, (uint32_t)*w++);
        }
        glue_store32(y, outputs(tile, sums, w));
        w += 8;
        y += 4;
    } while (w != tile->stream_end);
}

#endif
