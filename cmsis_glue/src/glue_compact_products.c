#include "glue_compact_products.h"
#include "glue_dsp_intrinsics.h"

#include <stdint.h>

int32_t glue_add_products(int32_t sum, const int8_t *x, const int8_t *w, int32_t size)
{
    const int8_t *const end = x + size;
#if GLUE_DSP
    if (size >= 4)
    {
        const int8_t *const fours_end = x + size / 4 * 4;
        do
        {
            const uint32_t codes = glue_load32(x), weights = glue_load32(w);
            sum = glue_smlad(glue_sxtb16(codes), glue_sxtb16(weights), sum);
            sum = glue_smlad(glue_sxtb16_odd(codes), glue_sxtb16_odd(weights), sum);
            x += 4;
            w += 4;
        } while (x != fours_end);
    }
#endif
    while (x != end)
    {
        sum = glue_add_modulo(sum, *x++ * *w++);
    }
    return sum;
}
