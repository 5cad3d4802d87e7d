/* The C form; the assembly form is in glue_rows_32_mve.S. */

#include "glue_mve_lanes.h"

#if !GLUE_MVE_ASM

void glue_rows_32_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
{
    for (int32_t row = 0; row < rows; row++)
    {
        const int32_t *stream = filter->stream;
        for (int32_t c = 0; c < filter->channels; c += 2)
        {
            const int8_t *w = (const int8_t *)stream;
            const int32_t *facts = stream + filter->steps * 2 * GLUE_MVE_STEP / 4;
            int32_t sums[GLUE_MVE_LANES] = {facts[0], facts[1], 0, 0};
            for (int32_t step = 0; step < filter->steps; step++)
            {
                glue_mve_accumulate(sums, 2, x + step * GLUE_MVE_STEP, w, GLUE_MVE_STEP, GLUE_MVE_STEP);
                w += 2 * GLUE_MVE_STEP;
            }
            const glue_mve_scale scale = {{0, 0, 0, 0}, {facts[2], facts[3], 0, 0}, {facts[4], facts[5], 0, 0}};
            glue_mve_store(filter, sums, &scale, y + c, 1, glue_min(filter->channels - c, 2));
            stream = facts + 7;
        }
        x += pitch;
        y += filter->channels;
    }
}

#endif
