/* The job of the assembly of glue_depthwise_row_mve(). Read by C and assembly. */

#ifndef GLUE_DEPTHWISE_ROW_MVE_H
#define GLUE_DEPTHWISE_ROW_MVE_H

/* Words of a channel's record: two windows of weights, five biases, multiplier, right shift; and after four of them. */
#define GLUE_ROW_WEIGHTS 8
#define GLUE_ROW_RECORD 15
#define GLUE_ROW_TABLES 8

/* Rows of the kernel that lie in the padding. */
#define GLUE_ROW_NONE 0
#define GLUE_ROW_FIRST 1
#define GLUE_ROW_LAST 2

/* Offsets in glue_depthwise_row_job, for assembly. */
#define ROW_X 0
#define ROW_CHANNELS 8
#define ROW_ZERO 24
#define ROW_Y 28
#define ROW_LEFT 36
#define ROW_CELLS 40
#define ROW_OUTPUT_ZERO 48
#define ROW_ROUND 52

#ifndef __ASSEMBLER__

#include "glue_mve.h"

struct glue_depthwise_row_job
{
    const int8_t *x; /* first row that is there, of the channels to be done */
    int32_t row_step;
    int32_t channels;
    int32_t columns; /* of the input */
    int8_t *cell;    /* of the first column */
    int32_t missing; /* GLUE_ROW_NONE, .. */
    int32_t zero;    /* of the input */
    int8_t *y;       /* of the channels to be done, and */
    const int32_t *weights;
    int32_t left; /* channels to be done */
    int8_t *cells;
    int8_t *after; /* cell of padding after the last column; or cells */
    int32_t output_zero;
    int32_t round;   /* channels of a round */
    int32_t padding; /* columns before the input */
};

#endif /* __ASSEMBLER__ */

#endif /* GLUE_DEPTHWISE_ROW_MVE_H */
