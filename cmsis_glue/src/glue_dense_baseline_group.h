/* Sums of eight channels of one row, between glue_dense_baseline.c and its inner loops. */

#ifndef GLUE_DENSE_BASELINE_GROUP_H
#define GLUE_DENSE_BASELINE_GROUP_H

#include "glue_scalar.h"

/*
 * sums[c] = stream[c] + correction + sum(x[k] * codes[k][c]); the codes are weights + 128, which makes them bytes
 * without sign.
 */
void glue_dense_baseline_sums(int32_t *sums, const int8_t *x, const int32_t *stream, int32_t depth, int32_t correction);

#endif /* GLUE_DENSE_BASELINE_GROUP_H */
