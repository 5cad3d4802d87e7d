#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"

int32_t *glue_dense_dsp_column(const glue_dense_dsp_params *params, const int8_t *x, int32_t *column)
{
    int32_t *const begin = column;
    int32_t length = params->depth;
    for (; length >= 4; length -= 4)
    {
        const uint32_t codes = glue_load32(x);
        column[0] = (int32_t)glue_sxtb16(codes);
        column[1] = (int32_t)glue_sxtb16_odd(codes);
        column += 2;
        x += 4;
    }
    if (length != 0)
    {
        const int32_t first = x[0], second = length > 1 ? x[1] : 0, third = length > 2 ? x[2] : 0;
        column[0] = (int32_t)glue_pkhbt((uint32_t)first, (uint32_t)third);
        column[1] = second;
        column += 2;
    }
    for (int32_t i = 0; i < params->extra_count; i++)
    {
        *column++ = begin[params->extra[i]];
    }
    return column;
}
