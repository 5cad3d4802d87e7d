#include "glue_conv_baseline_tile.h"

#include "glue_asm.h"
#include "glue_baseline_internal.h"

void glue_finish_baseline(const int32_t *sums, const int32_t *numbers, int8_t *y, const glue_scalar_product *product)
{
    for (int32_t c = 0; c < 2; c++)
    {
        y[c] = glue_output_baseline(
            sums[c], numbers, product->epilogue, product->zero_point, product->activation);
        numbers += GLUE_SCALAR_NUMBERS;
    }
}

#if !GLUE_ASM

int32_t *glue_pair_codes_baseline(int32_t *to, const int8_t *a, const int8_t *b, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
    {
        *to++ = *a++ + *b++ * 65536;
    }
    return to;
}

/*
 * Two products fit 16 bits, so one multiplication of a weight with both pixels makes two. An offset keeps both halves
 * from going below zero: `whole` sums everything, `upper` the upper halves alone.
 */
void glue_tile_baseline(const glue_tile_baseline_run *run)
{
    const uint32_t offset = 0x7F807F80U;
    const int32_t *stream = run->stream;
    int8_t *ya = run->ya;
    int8_t *yb = run->yb;
    for (int32_t i = 0; i < run->count; i++)
    {
        uint32_t whole[2] = {(uint32_t)stream[0], (uint32_t)stream[2]};
        uint32_t upper[2] = {(uint32_t)stream[1], (uint32_t)stream[3]};
        const int8_t *w = (const int8_t *)(stream + BASELINE_FIRST_WORDS);
        const int32_t *pixels = run->pixels;
        for (int32_t step = 0; step < run->steps; step++)
        {
            const uint32_t x0 = (uint32_t)pixels[0];
            const uint32_t x1 = (uint32_t)pixels[1];
            for (int32_t c = 0; c < 2; c++)
            {
                const int32_t w0 = w[0];
                const int32_t w1 = w[1];
                const uint32_t both = x0 * (uint32_t)w0 + x1 * (uint32_t)w1 + offset;
                whole[c] += both;
                upper[c] += both >> 16;
                w += 2;
            }
            pixels += 2;
        }
        const int32_t sums[2][2] = {
            {(int32_t)(whole[0] - (upper[0] << 16)), (int32_t)(whole[1] - (upper[1] << 16))},
            {(int32_t)upper[0], (int32_t)upper[1]}};
        const int32_t *const numbers = stream + BASELINE_FIRST_WORDS + run->steps;
        glue_finish_baseline(sums[0], numbers, ya, run->product);
        glue_finish_baseline(sums[1], numbers, yb, run->product);
        stream += run->steps + BASELINE_OTHER_WORDS;
        ya += 2;
        yb += 2;
    }
}

#endif /* !GLUE_ASM */
