#include "glue_conv_scalar_tile.h"

#include "glue_asm.h"
#include "glue_scalar_internal.h"

#if !GLUE_ASM

void glue_conv_scalar_single(const glue_tile_scalar_run *run)
{
    int8_t *y = run->ya;
    for (const int32_t *stream = run->stream; stream != run->end; stream += run->depth + 20)
    {
        int32_t sums[4] = {stream[0], stream[1], stream[2], stream[3]};
        const int8_t *w = glue_scalar_codes(stream, 4);
        for (int32_t k = 0; k < run->depth; k++)
        {
            for (int32_t c = 0; c < 4; c++)
            {
                sums[c] += run->a[k] * w[c];
            }
            w += 4;
        }
        glue_finish_tile_scalar(sums, stream + 4 + run->depth, y, run);
        y += 4;
    }
}

#endif /* !GLUE_ASM */
