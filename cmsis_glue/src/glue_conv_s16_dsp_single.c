/* One pixel times four channels of int16 codes. */

#include "glue_conv_s16_dsp_tile.h"
#include "glue_requantize_s16_dsp.h"

void glue_conv_s16_dsp_single(const glue_tile_dsp *tile)
{
    const int32_t *w = tile->stream, *const end = tile->column_end;
    int8_t *y = tile->y;
    do
    {
        int32_t a = w[0], b = w[1], c = w[2], d = w[3];
        w += 4;
        for (const int32_t *x = tile->column; x != end; x++)
        {
            const uint32_t codes = (uint32_t)*x, first = (uint32_t)*w++, second = (uint32_t)*w++;
            a = glue_smlad(codes, glue_sxtb16(first), a);
            b = glue_smlad(codes, glue_sxtb16_odd(first), b);
            c = glue_smlad(codes, glue_sxtb16(second), c);
            d = glue_smlad(codes, glue_sxtb16_odd(second), d);
        }
        const int32_t sums[4] = {a, b, c, d};
        if (tile->form == GLUE_TILE_SUMS)
        {
            memcpy(y, sums, sizeof sums);
            return;
        }
        glue_store32(y, glue_codes_s16_dsp(sums, w, tile->form, tile->low, tile->high));
        glue_store32(y + 4, glue_codes_s16_dsp(sums + 2, w + 4, tile->form, tile->low, tile->high));
        w += 8;
        y += 8;
    } while (w != tile->stream_end);
}
