/* Lines of one channel of a 3x3 depthwise convolution, and the streams. Read by C and assembly. */

#ifndef GLUE_DEPTHWISE_SCALAR_LINE_H
#define GLUE_DEPTHWISE_SCALAR_LINE_H

/* Offset of the weight codes in a channel's stream, words. */
#define DEPTHWISE_CODES 6

/* Offsets in glue_depthwise_scalar_lines, for assembly. */
#define LINES_NUMBERS 0
#define LINES_BIAS 16
#define LINES_FIRST 20
#define LINES_LAST 24
#define LINES_OUTER 28
#define LINES_MIDDLE 52
#define LINES_X 64
#define LINES_Y 68
#define LINES_STEP 72
#define LINES_Y_STEP 76
#define LINES_PITCH 80
#define LINES_X_LINE 84
#define LINES_Y_LINE 88
#define LINES_LINES 92
#define LINES_COUNT 96
#define LINES_BEFORE 100
#define LINES_AFTER 104
#define LINES_RECTIFIED 108
#define LINES_BYTES 112

#ifndef __ASSEMBLER__

#include "glue_scalar.h"

/*
 * Lines run along the image, 3 codes of the window lie across. Weights of rows outside the image are zero, and the
 * biases know of it.
 */
typedef struct
{
    int32_t numbers[4];  /* RECTIFIED on Armv7-M: the bias is contained */
    int32_t bias;        /* of outputs whose window is inside the image along the line; 0 if it is in the numbers */
    int32_t first;       /* bias of the first output, when the first tap along the line is outside */
    int32_t last;        /* added to the last output, when the last tap along the line is outside */
    int32_t outer[3][2]; /* weights [across][first and last along the line] */
    int32_t middle[3];   /* weights [across] in the middle along the line */
    const int8_t *x;     /* first code of the first line: that of the first tap inside */
    int8_t *y;
    int32_t step;        /* between codes along the line */
    int32_t y_step;      /* between outputs along the line; for stride 1 the same */
    int32_t pitch;       /* between codes across */
    int32_t x_line;      /* from line to line */
    int32_t y_line;
    int32_t lines;       /* >= 1 */
    int32_t count;       /* outputs in a line, >= 1 */
    int32_t before;      /* 1: the first tap of the first output is outside the image */
    int32_t after;       /* 1: the last tap of the last output is outside */
    int32_t rectified;   /* the epilogue: RECTIFIED, otherwise SIGNED */
    int32_t zero_point;  /* of the output; not read on Armv7-M, where it is in the numbers */
} glue_depthwise_scalar_lines;

/* Stride 1 along the line. */
void glue_depthwise_scalar_lines_1(const glue_depthwise_scalar_lines *run);

/* Stride 2. */
void glue_depthwise_scalar_lines_2(const glue_depthwise_scalar_lines *run);

/* The same for Armv6-M. */
void glue_depthwise_baseline_lines_1(const glue_depthwise_scalar_lines *run);
void glue_depthwise_baseline_lines_2(const glue_depthwise_scalar_lines *run);

#endif /* __ASSEMBLER__ */

#endif /* GLUE_DEPTHWISE_SCALAR_LINE_H */
