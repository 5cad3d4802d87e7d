#include "glue_conv_s16_dsp_tile.h"

#include <stdint.h>

static uint32_t twice(int32_t code)
{
    return (uint32_t)(uint16_t)code * 0x10001U;
}

void glue_conv_s16_dsp_clamp(glue_tile_dsp *tile, const cmsis_nn_activation *activation)
{
    tile->zero = 0;
    tile->low = twice(activation->min);
    tile->high = twice(activation->max);
    tile->form = GLUE_TILE_SIGNED;
    if (activation->min == 0 && activation->max == INT16_MAX)
    {
        tile->form = GLUE_TILE_RECTIFIED;
    }
    else if (activation->min > INT16_MIN || activation->max < INT16_MAX)
    {
        tile->form += GLUE_TILE_CLAMPED;
    }
}
