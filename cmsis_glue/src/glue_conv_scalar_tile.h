/* Tiles of two pixels by four channels, between glue_conv_scalar.c and its inner loops. */

#ifndef GLUE_CONV_SCALAR_TILE_H
#define GLUE_CONV_SCALAR_TILE_H

#include "glue_scalar_internal.h"

/* Pairs of pixels times a range of channel groups. Assembly reads the fields in this order. */
struct glue_tile_scalar_run
{
    const int8_t *a; /* `depth` codes of the first pixel */
    const int8_t *b; /* and of the second */
    int8_t *ya;      /* where their outputs go */
    int8_t *yb;
    const int32_t *stream; /* first group */
    const int32_t *end;    /* behind the last group */
    int32_t depth;
    int32_t epilogue;
    int32_t pairs;  /* >= 1 */
    int32_t x_step; /* from a to the next pair's */
    int32_t y_step; /* from ya to the next pair's */
    const glue_scalar_product *product;
    void (*single)(const glue_tile_scalar_run *run); /* for one pixel; or NULL */
};

/* Windows to copy, each some rows of codes. Assembly reads the fields in this order. */
typedef struct
{
    int8_t *to;
    const int8_t *from;
    int32_t bytes; /* in a row, >= 1 */
    int32_t rows;  /* >= 1 */
    int32_t to_pitch;
    int32_t from_pitch;
    int32_t windows; /* >= 1 */
    int32_t to_step; /* from window to window */
    int32_t from_step;
} glue_rows;

void glue_copy_rows_scalar(const glue_rows *copy);

void glue_tile_scalar(const glue_tile_scalar_run *run);

/*
 * The epilogue GLUE_SCALAR_GENERAL: `count` sums of one pixel with their channels' numbers.
 */
void glue_general_scalar(const int32_t *sums, const int32_t *numbers, int8_t *y, const glue_scalar_product *product);

/* Outputs of one pixel, in C. */
static inline void
glue_finish_tile_scalar(const int32_t *sums, const int32_t *numbers, int8_t *y, const glue_tile_scalar_run *run)
{
    if (run->epilogue == GLUE_SCALAR_GENERAL)
    {
        glue_general_scalar(sums, numbers, y, run->product);
    }
    else if (run->epilogue == GLUE_SCALAR_SIGNED)
    {
        for (int32_t c = 0; c < 4; c++)
        {
            y[c] = glue_signed_scalar(sums[c], numbers + c * GLUE_SCALAR_NUMBERS);
        }
    }
    else
    {
        for (int32_t c = 0; c < 4; c++)
        {
            y[c] = glue_rectified_scalar(sums[c], numbers + c * GLUE_SCALAR_NUMBERS);
        }
    }
}

#endif /* GLUE_CONV_SCALAR_TILE_H */
