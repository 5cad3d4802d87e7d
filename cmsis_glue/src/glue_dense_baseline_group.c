#include "glue_dense_baseline_group.h"

#include "glue_asm.h"

#if !GLUE_ASM

void glue_dense_baseline_sums(int32_t *sums, const int8_t *x, const int32_t *stream, int32_t depth, int32_t correction)
{
    for (int32_t half = 0; half < 8; half += 4)
    {
        const uint8_t *w = (const uint8_t *)(stream + 8) + half;
        int32_t s0 = stream[half] + correction;
        int32_t s1 = stream[half + 1] + correction;
        int32_t s2 = stream[half + 2] + correction;
        int32_t s3 = stream[half + 3] + correction;
        for (int32_t k = 0; k < depth; k++)
        {
            const int32_t value = x[k];
            s0 += value * w[0];
            s1 += value * w[1];
            s2 += value * w[2];
            s3 += value * w[3];
            w += 8;
        }
        sums[half] = s0;
        sums[half + 1] = s1;
        sums[half + 2] = s2;
        sums[half + 3] = s3;
    }
}

#endif /* !GLUE_ASM */
