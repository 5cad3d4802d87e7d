#include "glue_conv_scalar_tile.h"

#include "glue_asm.h"
#include "glue_scalar_internal.h"

#include <stddef.h>
#include <string.h>

void glue_general_scalar(const int32_t *sums, const int32_t *numbers, int8_t *y, const glue_scalar_product *product)
{
    for (int32_t c = 0; c < 4; c++)
    {
        y[c] = glue_general_scalar_one(sums[c], numbers, product->zero_point, product->activation);
        numbers += GLUE_SCALAR_NUMBERS;
    }
}

#if !GLUE_ASM

void glue_copy_rows_scalar(const glue_rows *copy)
{
    for (int32_t i = 0; i < copy->windows; i++)
    {
        int8_t *to = copy->to + i * copy->to_step;
        const int8_t *from = copy->from + i * copy->from_step;
        for (int32_t row = 0; row < copy->rows; row++)
        {
            memcpy(to, from, (size_t)copy->bytes);
            to += copy->to_pitch;
            from += copy->from_pitch;
        }
    }
}

void glue_tile_scalar(const glue_tile_scalar_run *run)
{
    const int32_t depth = run->depth;
    for (int32_t i = 0; i < run->pairs; i++)
    {
        const int8_t *const a = run->a + i * run->x_step;
        const int8_t *const b = run->b + i * run->x_step;
        int8_t *ya = run->ya + i * run->y_step;
        int8_t *yb = run->yb + i * run->y_step;
        for (const int32_t *stream = run->stream; stream != run->end; stream += depth + 20)
        {
            int32_t a0 = stream[0];
            int32_t a1 = stream[1];
            int32_t a2 = stream[2];
            int32_t a3 = stream[3];
            int32_t b0 = a0;
            int32_t b1 = a1;
            int32_t b2 = a2;
            int32_t b3 = a3;
            const int8_t *w = glue_scalar_codes(stream, 4);
            for (int32_t k = 0; k < depth; k++)
            {
                a0 += a[k] * w[0];
                b0 += b[k] * w[0];
                a1 += a[k] * w[1];
                b1 += b[k] * w[1];
                a2 += a[k] * w[2];
                b2 += b[k] * w[2];
                a3 += a[k] * w[3];
                b3 += b[k] * w[3];
                w += 4;
            }
            const int32_t sums[2][4] = {{a0, a1, a2, a3}, {b0, b1, b2, b3}};
            glue_finish_tile_scalar(sums[0], stream + 4 + depth, ya, run);
            glue_finish_tile_scalar(sums[1], stream + 4 + depth, yb, run);
            ya += 4;
            yb += 4;
        }
    }
}

#endif /* !GLUE_ASM */
