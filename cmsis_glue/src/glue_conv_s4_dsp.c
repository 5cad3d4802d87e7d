#include "glue_conv_s4_dsp.h"
#include "glue_conv_dsp_walk.h"
#include "glue_internal.h"
#include "glue_s4.h"

#include <stdint.h>

/* The largest code, up to 16 bits, that is taken from the rest. */
static int32_t part_of(int32_t *rest)
{
    const int32_t part = glue_max(glue_min(*rest, 32767), -32768);
    *rest -= part;
    return part;
}

/* The codes of the last taps of both pixels: with their weights 0 they undo what the others have too much. */
static void balance(const glue_conv_s4_dsp_params *params, int32_t *column)
{
    int32_t *const end = column + 2 * (params->conv.steps - params->balance);
    int32_t rest[2] = {0, 0};
    for (const int32_t *x = column; x != end; x += 2)
    {
        rest[0] = glue_smlad((uint32_t)x[0], 0x00010001U, rest[0]);
        rest[1] = glue_smlad((uint32_t)x[1], 0x00010001U, rest[1]);
    }
    rest[0] = -rest[0];
    rest[1] = -rest[1];
    for (int32_t i = 0; i < 2 * params->balance; i++)
    {
        const int32_t first = part_of(rest + i % 2), second = part_of(rest + i % 2);
        end[i] = (int32_t)glue_pkhbt((uint32_t)first, (uint32_t)second);
    }
}

arm_cmsis_nn_status
glue_conv_s4_dsp(const glue_conv_s4_dsp_params *params, const int8_t *input, int8_t *output, void *scratch)
{
    const glue_conv_dsp_params *const conv = &params->conv;
    const int32_t words = 12 + conv->steps;
    glue_windows_dsp windows;
    glue_tile_dsp tile;
    glue_tile_of_dsp(&tile, conv, words, scratch);
    glue_conv_s4_dsp_begin(&tile);
    glue_conv_dsp_windows(&windows, conv, input);
    while (windows.pixels > 0)
    {
        const int32_t two = glue_conv_dsp_columns(&windows, scratch) > 1;
        balance(params, scratch);
        glue_pixels_dsp(conv, &tile, two, glue_conv_s4_dsp_tile, words, output);
        output += 2 * conv->output.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
