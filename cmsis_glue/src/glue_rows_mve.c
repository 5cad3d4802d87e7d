/* The C form; the assembly form is in glue_rows_mve.S. */

#include "glue_mve_lanes.h"

#if !GLUE_MVE_ASM

void glue_rows_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
{
    for (int32_t row = 0; row < rows; row++)
    {
        const int32_t *stream = filter->stream;
        for (int32_t c = 0; c < filter->channels; c += GLUE_MVE_LANES)
        {
            int32_t sums[GLUE_MVE_LANES];
            memcpy(sums, stream, sizeof sums);
            const int8_t *w = (const int8_t *)(stream + GLUE_MVE_LANES);
            for (int32_t step = 0; step < filter->steps; step++)
            {
                glue_mve_accumulate(sums, GLUE_MVE_LANES, x + step * GLUE_MVE_STEP, w, GLUE_MVE_STEP, GLUE_MVE_STEP);
                w += GLUE_MVE_LANES * GLUE_MVE_STEP;
            }
            stream += GLUE_MVE_LANES + filter->steps * GLUE_MVE_STEP;
            const glue_mve_scale scale = glue_mve_read_scale(stream, GLUE_MVE_LANES, filter->form);
            stream += (filter->form == GLUE_MVE_GENERAL ? 3 : 2) * GLUE_MVE_LANES;
            glue_mve_store(filter, sums, &scale, y + c, 1, glue_min(filter->channels - c, GLUE_MVE_LANES));
        }
        x += pitch;
        y += filter->channels;
    }
}

#endif
