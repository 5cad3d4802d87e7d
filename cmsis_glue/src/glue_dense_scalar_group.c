#include "glue_dense_scalar_group.h"

#include "glue_asm.h"
#include "glue_scalar_internal.h"

#define GROUP 8

void glue_dense_scalar_general(const int32_t *sums, const int32_t *numbers, int8_t *y, const glue_scalar_product *product)
{
    for (int32_t c = 0; c < GROUP; c++)
    {
        y[c] = glue_general_scalar_one(sums[c], numbers, product->zero_point, product->activation);
        numbers += GLUE_SCALAR_NUMBERS;
    }
}

#if !GLUE_ASM

void glue_dense_scalar_groups(
    const int8_t *x, int8_t *y, const int32_t *stream, const glue_scalar_product *product, int32_t count)
{
    const int32_t depth = product->depth;
    for (; count > 0; count--)
    {
        const int8_t *w = glue_scalar_codes(stream, GROUP);
        int32_t sums[GROUP];
        for (int32_t half = 0; half < GROUP; half += 4)
        {
            int32_t s0 = stream[half];
            int32_t s1 = stream[half + 1];
            int32_t s2 = stream[half + 2];
            int32_t s3 = stream[half + 3];
            const int8_t *row = w + half;
            for (int32_t k = 0; k < depth; k++)
            {
                const int32_t value = x[k];
                s0 += value * row[0];
                s1 += value * row[1];
                s2 += value * row[2];
                s3 += value * row[3];
                row += GROUP;
            }
            sums[half] = s0;
            sums[half + 1] = s1;
            sums[half + 2] = s2;
            sums[half + 3] = s3;
        }
        stream += GROUP + 2 * depth;
        for (int32_t c = 0; c < GROUP; c++)
        {
            *y++ = glue_output_scalar(
                sums[c], stream, product->epilogue, product->zero_point, product->activation);
            stream += GLUE_SCALAR_NUMBERS;
        }
    }
}

#endif /* !GLUE_ASM */
