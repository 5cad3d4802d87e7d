#include "glue_conv_s4_products.h"
#include "glue_dsp_intrinsics.h"

#include <stdint.h>

/*
 * The products of a code with all 16 bits, with the lower 8 of them, and with those of every other weight, are three
 * sums of several channels' sums, of which the single ones follow.
 */
void glue_add_products_s4(int32_t *sums, const int8_t *x, const int16_t *w, int32_t size)
{
    int32_t all = 0, lower = 0, even = 0, first = 0;
    const int8_t *const end = x + size;
    do
    {
        const int32_t code = *x++, weights = *w++;
        all += code * weights;
        lower += code * (weights & 0xFF);
        even += code * (weights & 0xF0F);
        first += code * (weights & 0xF);
    } while (x != end);
    sums[0] = glue_add_modulo(sums[0], first);
    sums[1] = glue_add_modulo(sums[1], (lower - first) >> 4);
    sums[2] = glue_add_modulo(sums[2], (even - first) >> 8);
    sums[3] = glue_add_modulo(sums[3], (all - lower - (even - first)) >> 12);
}
