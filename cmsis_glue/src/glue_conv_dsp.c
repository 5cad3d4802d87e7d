#include "glue_conv_dsp_tile.h"
#include "glue_conv_dsp_walk.h"
#include "glue_dsp.h"

#include <stdint.h>

arm_cmsis_nn_status
glue_conv_dsp(const glue_conv_dsp_params *params, const int8_t *input, int8_t *output, void *scratch)
{
    const int32_t words = 12 + 2 * params->steps;
    glue_windows_dsp windows;
    glue_tile_dsp tile;
    glue_tile_of_dsp(&tile, params, words, scratch);
    glue_conv_dsp_tile_begin(&tile);
    glue_conv_dsp_windows(&windows, params, input);
    while (windows.pixels > 0)
    {
        const int32_t two = glue_conv_dsp_columns(&windows, scratch) > 1;
        glue_pixels_dsp(params, &tile, two, glue_conv_dsp_tile, words, output);
        output += 2 * params->output.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
