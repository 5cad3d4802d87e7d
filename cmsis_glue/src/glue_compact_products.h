/* The inner loop of glue_compact_s8. Not for generated code. */

#ifndef GLUE_COMPACT_PRODUCTS_H
#define GLUE_COMPACT_PRODUCTS_H

#include <stdint.h>

/* sum + the sum of x[i] * w[i], modulo 2^32. A function of its own, for its registers. */
int32_t glue_add_products(int32_t sum, const int8_t *x, const int8_t *w, int32_t size);

#endif /* GLUE_COMPACT_PRODUCTS_H */
