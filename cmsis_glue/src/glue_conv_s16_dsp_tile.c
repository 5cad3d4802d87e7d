/* Two pixels times four channels of int16 codes. The assembly twin is glue_conv_s16_dsp_tile.S. */

#include "glue_asm.h"
#include "glue_conv_s16_dsp_tile.h"
#include "glue_requantize_s16_dsp.h"

#include <stddef.h>

#if GLUE_ASM

_Static_assert(offsetof(glue_tile_dsp, column) == 16, "glue_tile_dsp_asm.h knows the layout");

#else

void glue_conv_s16_dsp_tile_begin(glue_tile_dsp *tile)
{
    (void)tile;
}

void glue_conv_s16_dsp_tile(const glue_tile_dsp *tile)
{
    const int32_t *w = tile->stream;
    int8_t *y = tile->y;
    do
    {
        int32_t sums[8];
        memcpy(sums, w, 16);
        memcpy(sums + 4, w, 16);
        w += 4;
        for (const int32_t *x = tile->column; x != tile->column_end; x += 2, w += 2)
        {
            for (int32_t pair = 0; pair < 4; pair += 2)
            {
                const uint32_t even = glue_sxtb16((uint32_t)w[pair / 2]), odd = glue_sxtb16_odd((uint32_t)w[pair / 2]);
                sums[pair] = glue_smlad((uint32_t)x[0], even, sums[pair]);
                sums[pair + 1] = glue_smlad((uint32_t)x[0], odd, sums[pair + 1]);
                sums[pair + 4] = glue_smlad((uint32_t)x[1], even, sums[pair + 4]);
                sums[pair + 5] = glue_smlad((uint32_t)x[1], odd, sums[pair + 5]);
            }
        }
        if (tile->form == GLUE_TILE_SUMS)
        {
            memcpy(y, sums, sizeof sums);
            return;
        }
        for (int32_t i = 0; i < 8; i += 2)
        {
            const uint32_t codes = glue_codes_s16_dsp(sums + i, w + 2 * (i % 4), tile->form, tile->low, tile->high);
            glue_store32(y + i / 4 * tile->y_step + 2 * (i % 4), codes);
        }
        w += 8;
        y += 8;
    } while (w != tile->stream_end);
}

#endif
