#include "glue_conv_dsp_tile.h"

#include <stdint.h>

void glue_tile_dsp_clamp(glue_tile_dsp *tile, int32_t zero, const glue_bounds *activation, int32_t rectified)
{
    const int32_t clamped = activation->min > -128 || activation->max < 127 ? GLUE_TILE_CLAMPED : 0;
    tile->zero = zero + (rectified != 0 && !clamped ? 128 : 0);
    tile->low = (uint32_t)(uint8_t)activation->min * 0x01010101U;
    tile->high = (uint32_t)(uint8_t)activation->max * 0x01010101U;
    tile->form = rectified != 0 && !clamped ? GLUE_TILE_RECTIFIED : GLUE_TILE_SIGNED + clamped;
}
