/*
 * Inner loops of the convolutions and fully connected layers for the DSP extension. Read by C and assembly; not for
 * generated code.
 *
 * Two weights share 16 bits: 256 * w1 + w0, of two channels. With R = the sum of the codes times that and S0 = the sum
 * of the codes times w0, S1 = (R - S0) / 256 exactly, all modulo 2^32, while -2^23 <= S1 < 2^23. The word of two taps
 * serves as it is for R, and one SXTB16 of it for S0.
 */

#ifndef GLUE_CONV_DSP_TILE_H
#define GLUE_CONV_DSP_TILE_H

/*
 * What a tile makes of its sums: outputs or sums. The form for rectified outputs rounds negative ones to another side
 * and has 16 bits for an output before it is saturated.
 */
#define GLUE_TILE_RECTIFIED 0
#define GLUE_TILE_SIGNED 1
#define GLUE_TILE_SUMS 2

/* Added to the form: the clamp is not that of int8. */
#define GLUE_TILE_CLAMPED 4

#ifndef __ASSEMBLER__

#include "arm_nn_types.h"
#include "glue_dsp.h"

#include <stdint.h>

/* The assembly forms copy it to their stack. */
struct glue_tile_dsp
{
    const int32_t *stream;
    int8_t *y;      /* with GLUE_TILE_SUMS: int32_t */
    int32_t y_step; /* from an output to the one of the second pixel */
    const int32_t *stream_end;
    const int32_t *column; /* pairs of codes: of one pixel, or of two in turn */
    const int32_t *column_end;
    int32_t zero; /* of the output; with GLUE_TILE_RECTIFIED 128 more */
    uint32_t low; /* four times the bounds of the clamp */
    uint32_t high;
    uint32_t jumps[3]; /* of the assembly form */
    int32_t form;
    const int32_t *tail; /* of the fully connected kernel */
    const int32_t *tail_end;
};

/* Fills zero, low, high and form. */
void glue_tile_dsp_clamp(glue_tile_dsp *tile, int32_t zero, const glue_bounds *activation, int32_t rectified);

/* Fills jumps, which follow from form and the length of the column. */
void glue_conv_dsp_tile_begin(glue_tile_dsp *tile);

/*
 * Outputs of two pixels, groups of four channels until stream_end. A group: sums to begin with S0 R01 S2 R23; for every
 * pair of taps a word of channels 0 and 1 and one of 2 and 3; then for every channel its multiplier and scale, unless
 * form is GLUE_TILE_SUMS, where one group gives int32_t y[8], the four channels of the first pixel first.
 */
void glue_conv_dsp_tile(const glue_tile_dsp *tile);

/*
 * The same for one pixel and groups of eight channels. The column is codes as they are, then come those of the tail,
 * both in words: 4 codes make the pairs (0, 2) and (1, 3). Jumps are not read.
 */
void glue_dense_dsp_tile(const glue_tile_dsp *tile);

/* Column and tail of a whole row: codes after the last whole word, filled up with 0, and those that come once more. */
void glue_dense_dsp_column(const glue_dense_dsp_params *params, const int8_t *x, uint32_t *tail, glue_tile_dsp *tile);

/* Runs of contiguous codes of two windows. */
typedef struct
{
    const int8_t *a;
    const int8_t *b;
    int32_t a_gap; /* from the last whole four codes of a run to the next run */
    int32_t b_gap;
    int32_t count;
    int32_t length;
} glue_runs_dsp;

/*
 * The codes as pairs, one of each window in turn. 4 codes of a run make the pairs (0, 2) and (1, 3), a rest of 3 the
 * pairs (0, 2) and (1, -), of 2 or 1 a single pair. Returns the end.
 */
int32_t *glue_conv_dsp_runs(const glue_runs_dsp *runs, int32_t *column);

/* Upper left corner of a window, and where it lies in the codes. */
typedef struct
{
    int32_t offset;
    int32_t y;
    int32_t x;
} glue_corner_dsp;

/* The windows of output pixels in their order. */
typedef struct
{
    const glue_conv_dsp_params *params;
    const int8_t *codes;
    int32_t pixels; /* left */
    int32_t flat;   /* 1: the windows are the pixels of the input one after the other */
    int32_t whole;  /* 1: the taps lie side by side, runs are rows of the window */
    glue_corner_dsp next;
    uint32_t inside_x; /* how many corners from 0 have their window inside the image */
    uint32_t inside_y;
    int32_t end_x; /* of the corner after the last one of a row and of an image */
    int32_t end_y;
    int32_t step_x; /* from corner to corner, from the last one of a row and of an image to the next one */
    int32_t step_row;
    int32_t step_image;
    int32_t taps;       /* of a run */
    glue_runs_dsp runs; /* of windows inside the image */
} glue_windows_dsp;

void glue_conv_dsp_windows(glue_windows_dsp *windows, const glue_conv_dsp_params *params, const int8_t *input);

/*
 * Fills the column with the next two windows; with one twice when it is the last. Tells how many.
 * The codes of a window that leaves the image are copied behind the pairs first.
 */
int32_t glue_conv_dsp_columns(glue_windows_dsp *windows, int32_t *column);

#endif /* __ASSEMBLER__ */

#endif /* GLUE_CONV_DSP_TILE_H */
