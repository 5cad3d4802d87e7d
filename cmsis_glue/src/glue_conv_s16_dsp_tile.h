/* Inner loops of the convolutions of int16 codes for the DSP extension. Not for generated code. */

#ifndef GLUE_CONV_S16_DSP_TILE_H
#define GLUE_CONV_S16_DSP_TILE_H

#include "glue_conv_dsp_tile.h"
#include "glue_s16_dsp.h"

/* Codes have 16 bits: of a glue_tile_dsp, y are int16_t, y_step is in bytes, low and high are twice the bounds. */

/* Fills zero, low, high and form. */
void glue_conv_s16_dsp_clamp(glue_tile_dsp *tile, const cmsis_nn_activation *activation);

/* Fills jumps, which follow from form and the length of the column. */
void glue_conv_s16_dsp_tile_begin(glue_tile_dsp *tile);

/*
 * Outputs of two pixels, groups of four channels until stream_end. With GLUE_TILE_SUMS one group gives int32_t y[8], the
 * four channels of the first pixel first.
 */
void glue_conv_s16_dsp_tile(const glue_tile_dsp *tile);

/* The same for one pixel; GLUE_TILE_SUMS gives four sums. Jumps are not read. */
void glue_conv_s16_dsp_single(const glue_tile_dsp *tile);

/* The windows of output pixels in their order. */
typedef struct
{
    const glue_layer_s16_params *layer;
    const int16_t *image;
    int32_t pixels; /* left */
    int32_t flat;   /* 1: the windows are the pixels of the input one after the other */
    int32_t row;    /* of the next pixel */
    int32_t column;
} glue_windows_s16_dsp;

void glue_conv_s16_dsp_windows(glue_windows_s16_dsp *windows,
                               const glue_layer_s16_params *layer,
                               const int16_t *input);

/* Fills the column with the next two windows, pair by pair in turn; with the last one by itself. Tells how many. */
int32_t glue_conv_s16_dsp_columns(glue_windows_s16_dsp *windows, int32_t *column);

#endif /* GLUE_CONV_S16_DSP_TILE_H */
