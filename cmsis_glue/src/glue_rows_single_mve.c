/* The C form; the assembly form is in glue_rows_single_mve.S. */

#include "glue_mve_lanes.h"

#if !GLUE_MVE_ASM

void glue_rows_single_mve(const glue_filter_mve *filter, const int8_t *x, int8_t *y)
{
    const int32_t *stream = filter->stream;
    for (int32_t c = 0; c < filter->channels; c += GLUE_MVE_LANES)
    {
        int32_t sums[GLUE_MVE_LANES];
        stream = glue_mve_sums(filter, stream, GLUE_MVE_LANES, x, filter->steps * GLUE_MVE_STEP, sums);
        const glue_mve_scale scale = glue_mve_read_scale(stream, GLUE_MVE_LANES, filter->form);
        stream += (filter->form == GLUE_MVE_GENERAL ? 3 : 2) * GLUE_MVE_LANES;
        glue_mve_store(filter, sums, &scale, y + c, 1, glue_min(filter->channels - c, GLUE_MVE_LANES));
    }
}

#endif
