/* The inner loop of glue_conv_s4. Not for generated code. */

#ifndef GLUE_CONV_S4_PRODUCTS_H
#define GLUE_CONV_S4_PRODUCTS_H

#include <stdint.h>

/* So many products of a code and 16 bits have a sum of 31 bits. */
#define GLUE_S4_TAPS 256

/*
 * Adds the products of up to GLUE_S4_TAPS taps to the sums of four channels, those of the first three with w + 8. A
 * function of its own, for its registers.
 */
void glue_add_products_s4(int32_t *sums, const int8_t *x, const int16_t *w, int32_t size);

#endif /* GLUE_CONV_S4_PRODUCTS_H */
