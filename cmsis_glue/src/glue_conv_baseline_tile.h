/* Tiles of two pixels by two channels, between glue_conv_baseline.c and its inner loops. */

#ifndef GLUE_CONV_BASELINE_TILE_H
#define GLUE_CONV_BASELINE_TILE_H

#include "glue_scalar.h"

/* Words of a stream besides the weights: first values of four sums, and four numbers for each channel. */
#define BASELINE_FIRST_WORDS 4
#define BASELINE_OTHER_WORDS 12

/* One pair of pixels times a range of channel pairs. Assembly reads the fields in this order. */
typedef struct
{
    const int32_t *pixels; /* `steps` * 2 words: code of a + code of b * 2^16 */
    int8_t *ya;            /* where the outputs go */
    int8_t *yb;
    const int32_t *stream; /* first channel pair */
    int32_t steps;         /* two products of each sum: four weights */
    int32_t count;         /* channel pairs, >= 1 */
    int32_t epilogue;
    const glue_scalar_product *product;
} glue_tile_baseline_run;

void glue_tile_baseline(const glue_tile_baseline_run *run);

/* to[i] = a[i] + b[i] * 2^16; returns to + count. */
int32_t *glue_pair_codes_baseline(int32_t *to, const int8_t *a, const int8_t *b, int32_t count);

/* The outputs of two channels of one pixel by the epilogues that have no assembly. */
void glue_finish_baseline(const int32_t *sums, const int32_t *numbers, int8_t *y, const glue_scalar_product *product);

#endif /* GLUE_CONV_BASELINE_TILE_H */
