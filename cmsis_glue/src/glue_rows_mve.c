/* The C form; the assembly form is in glue_rows_mve.S. */

#include "glue_mve_lanes.h"

#if !GLUE_MVE_ASM

/* Outputs of two rows, which may be the same: both are read for four channels before these are written. */
static void multiply_pair(const glue_filter_mve *filter, const int8_t *const x[2], int8_t *const y[2])
{
    const int32_t *stream = filter->stream;
    for (int32_t c = 0; c < filter->channels; c += GLUE_MVE_LANES)
    {
        int32_t sums[2][GLUE_MVE_LANES];
        glue_mve_multiply_row(filter, stream, x[0], sums[0]);
        stream = glue_mve_multiply_row(filter, stream, x[1], sums[1]);
        const glue_mve_scale scale = glue_mve_read_scale(stream, GLUE_MVE_LANES, filter->form);
        stream += (filter->form == GLUE_MVE_GENERAL ? 3 : 2) * GLUE_MVE_LANES;
        const int32_t channels = glue_min(filter->channels - c, GLUE_MVE_LANES);
        glue_mve_store(filter, sums[0], &scale, y[0] + c, 1, channels);
        glue_mve_store(filter, sums[1], &scale, y[1] + c, 1, channels);
    }
}

void glue_rows_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
{
    int32_t row = 0;
    while (row < rows)
    {
        const int32_t second = glue_min(row + 1, rows - 1);
        const int8_t *const inputs[2] = {x + row * pitch, x + second * pitch};
        int8_t *const outputs[2] = {y + row * filter->channels, y + second * filter->channels};
        multiply_pair(filter, inputs, outputs);
        /* As in the assembly form, an odd number of rows begins with two pairs that have a row in common. */
        row += row == 0 && (rows & 1) != 0 ? 1 : 2;
    }
}

#endif
