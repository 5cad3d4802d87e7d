/* The C form of glue_rows_32_mve(), for weights of any width. */

#ifndef GLUE_MVE_FEW_TAPS_H
#define GLUE_MVE_FEW_TAPS_H

#include "glue_mve_lanes_s4.h"

/* bits: of a weight, 8 or 4. */
static inline void glue_few_taps_mve(
    const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y, int32_t bits)
{
    for (int32_t row = 0; row < rows; row++)
    {
        const int32_t *stream = filter->stream;
        for (int32_t c = 0; c < filter->channels; c += 2)
        {
            const int8_t *w = (const int8_t *)stream;
            const int32_t *facts = stream + filter->steps * GLUE_MVE_STEP * bits / 16;
            int32_t sums[GLUE_MVE_LANES] = {0, 0, 0, 0};
            for (int32_t step = 0; step < filter->steps; step++)
            {
                glue_mve_accumulate_pair(sums, x + step * GLUE_MVE_STEP, w, bits);
                w += GLUE_MVE_STEP * bits / 4;
            }
            glue_mve_separate_pair(sums, bits);
            sums[0] = glue_add_modulo(sums[0], facts[0]);
            sums[1] = glue_add_modulo(sums[1], facts[1]);
            const glue_mve_scale scale = {{0, 0, 0, 0}, {facts[2], facts[3], 0, 0}, {facts[4], facts[5], 0, 0}};
            glue_mve_store(filter, sums, &scale, y + c, 1, glue_min(filter->channels - c, 2));
            stream = facts + 7;
        }
        x += pitch;
        y += filter->channels;
    }
}

#endif /* GLUE_MVE_FEW_TAPS_H */
