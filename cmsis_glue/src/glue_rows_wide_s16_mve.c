#include "glue_s16_mve.h"

#include "glue_mve_lanes.h"
#include "glue_mve_lanes_s16.h"

/* Outputs of one row. */
static void multiply_row(const glue_filter_mve *filter, const int16_t *x, int16_t *y)
{
    const int32_t *stream = filter->stream;
    const int32_t all = filter->channels / 2;
    for (int32_t c = 0; c < all; c += GLUE_MVE_LANES)
    {
        int64_t sums[GLUE_MVE_LANES];
        memcpy(sums, stream, sizeof sums);
        stream += 2 * GLUE_MVE_LANES;
        const int8_t *w = (const int8_t *)stream;
        for (int32_t step = 0; step < filter->steps; step++)
        {
            glue_accumulate_wide_s16_mve(sums, x + step * GLUE_S16_MVE_STEP, w);
            w += GLUE_MVE_LANES * GLUE_S16_MVE_STEP;
        }
        stream += filter->steps * GLUE_S16_MVE_STEP;
        for (int32_t i = 0; i < glue_min(all - c, GLUE_MVE_LANES); i++)
        {
            const int32_t scaled = (int32_t)((sums[i] * stream[i]) >> stream[GLUE_MVE_LANES + i]);
            y[c + i] = (int16_t)glue_min(glue_max((scaled + 1) >> 1, filter->low), filter->high);
        }
        stream += 2 * GLUE_MVE_LANES;
    }
}

void glue_rows_wide_s16_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
{
    for (int32_t row = 0; row < rows; row++)
    {
        multiply_row(filter, (const int16_t *)(const void *)x, (int16_t *)(void *)y);
        x += pitch;
        y += filter->channels;
    }
}
