#include "glue_asm.h"
#include "glue_conv_dsp_tile.h"

#include <stddef.h>

#if GLUE_ASM

_Static_assert(offsetof(glue_tile_dsp, column) == 16, "glue_tile_dsp_asm.h knows the layout");
_Static_assert(offsetof(glue_tile_dsp, jumps) == 36, "glue_tile_dsp_asm.h knows the layout");
_Static_assert(offsetof(glue_tile_dsp, form) == 48, "glue_tile_dsp_asm.h knows the layout");

#else

void glue_conv_dsp_tile_begin(glue_tile_dsp *tile)
{
    (void)tile;
}

#endif
