/*
 * Depthwise convolutions on strips; for C and assembly.
 *
 * A strip is a copy of neighbouring lines of the image in which the codes of one channel and position in four lines lie
 * together as one word: 16 channels are a cell of 64 bytes (for two lines of outputs with stride 2 two cells, of lines
 * 0 to 3 and 2 to 5), and positions follow along the line. The 4 x 4 window of one channel is then one gather of four
 * words, and the sum over it one instruction. Cells outside the image hold the input zero point.
 */

#ifndef GLUE_DEPTHWISE_MVE_STRIP_H
#define GLUE_DEPTHWISE_MVE_STRIP_H

#include "glue_asm.h"

#define GLUE_STRIP_LINES 5 /* most lines that are read; the assembly forms know the layout of glue_strip_lines */
#define GLUE_STRIP_CHANNELS 16
#define GLUE_STRIP_WORD 4 /* bytes from channel to channel */
#define GLUE_STRIP_CELL 64
#define GLUE_STRIP_CELL_NARROW 32 /* of 8 channels */

/*
 * How far the gathers advance before they read. Stride 1, or one line: two positions; stride 2: to the window of the
 * next output of line 0, then to that of line 1 beside it.
 */
#define GLUE_STRIP_ADVANCE 128
#define GLUE_STRIP_ADVANCE_NARROW 64
#define GLUE_STRIP_ADVANCE_POSITION 192
#define GLUE_STRIP_ADVANCE_LINE 64

/* Offsets in glue_strip_mve that assembly knows. */
#define GLUE_STRIP_WEIGHTS 0
#define GLUE_STRIP_STEPS 8
#define GLUE_STRIP_TAIL 16
#define GLUE_STRIP_CELLS 24
#define GLUE_STRIP_ZERO_POINT 32
#define GLUE_STRIP_LEFT 36
#define GLUE_STRIP_WINDOW 48
#define GLUE_STRIP_SPREAD 64
#define GLUE_STRIP_LOWEST 80
#define GLUE_STRIP_HIGHEST 96
#define GLUE_STRIP_HALF_SPREAD 112

/* What comes after the full steps of a strip, in this order: nothing, a whole step, half a step. */
#define GLUE_STRIP_WHOLE 1
#define GLUE_STRIP_HALF 2

/* Words of a record after the weights. */
#define GLUE_STRIP_SHORT_WORDS 3
#define GLUE_STRIP_GENERAL_WORDS 5

#ifndef __ASSEMBLER__

#include "glue_mve.h"

/* One strip of up to 16 channels, ready to be summed up. */
typedef struct
{
    const int32_t *weights; /* records of the first channel and after the last */
    const int32_t *weights_end;
    int32_t steps;      /* full steps along the strip */
    int32_t tail;       /* 0, GLUE_STRIP_WHOLE or GLUE_STRIP_HALF: one more step, which may overlap the last */
    int32_t tail_cells; /* how far to go back for it, in bytes of the strip and in output codes */
    int32_t tail_y;
    const uint8_t *cells; /* 4-byte aligned */
    int8_t *y;            /* first channel of the first output */
    int32_t zero_point;   /* of the output */
    int32_t left;         /* the last words of a general record */
    int32_t away;
    int32_t reserved;
    int32_t window[4];  /* four positions, less the first advance of the gathers */
    uint16_t spread[8]; /* output of lane i: even lanes are the first half of a step, odd ones the second */
    int16_t lowest[8];
    int16_t highest[8];
    int32_t half_spread[4]; /* output of lane i of half a step */
} glue_strip_mve;

/* Lines of an image: first code, and codes from one position to the next. */
typedef struct
{
    const int8_t *x[GLUE_STRIP_LINES];
    int32_t step[GLUE_STRIP_LINES];
} glue_strip_lines;

/* Copies positions >= 1 of channels (1 to 16) into cells; reads nothing else, writes whole cells. */
typedef void (*glue_strip_fill)(const glue_strip_lines *lines, uint8_t *cells, int32_t positions, int32_t channels);

/* Sums up and requantises a strip. */
typedef void (*glue_strip_run)(glue_strip_mve *strip);

/* A way to work on strips: the type that generated code names. */
struct glue_strip_form
{
    int32_t stride;  /* distance of outputs, both ways */
    int32_t lines;   /* output lines of a strip */
    int32_t outputs; /* along the strip in one step: the even lanes hold the first half */
    int32_t inputs;  /* input lines; the others are zero points */
    int32_t cell;    /* bytes of one position */
    int32_t record;  /* words of one channel in the weights */
    int32_t window[4];
    glue_strip_fill fill;
    glue_strip_run run;
};

void glue_strip_fill_mve(const glue_strip_lines *lines, uint8_t *cells, int32_t positions, int32_t channels);
void glue_strip_fill_stride2_mve(const glue_strip_lines *lines, uint8_t *cells, int32_t positions, int32_t channels);

void glue_strip_3x3_mve(glue_strip_mve *strip);
void glue_strip_3x3_general_mve(glue_strip_mve *strip);
void glue_strip_3x3_narrow_mve(glue_strip_mve *strip);
void glue_strip_3x3_narrow_general_mve(glue_strip_mve *strip);
void glue_strip_3x3_line_mve(glue_strip_mve *strip);
void glue_strip_3x3_line_general_mve(glue_strip_mve *strip);
void glue_strip_3x3_stride2_mve(glue_strip_mve *strip);
void glue_strip_3x3_stride2_general_mve(glue_strip_mve *strip);
void glue_strip_3x3_stride2_line_mve(glue_strip_mve *strip);
void glue_strip_3x3_stride2_line_general_mve(glue_strip_mve *strip);

#endif /* __ASSEMBLER__ */

#endif /* GLUE_DEPTHWISE_MVE_STRIP_H */
