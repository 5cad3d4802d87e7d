/* The C forms of glue_rows_mve() and glue_dense_mve(), for weights of any width. */

#ifndef GLUE_MVE_GROUPS_H
#define GLUE_MVE_GROUPS_H

#include "glue_mve_lanes.h"

/* Channels in one group of a single row; one half of it are the even ones, the other the odd ones. */
#define GLUE_MVE_DENSE_GROUP 8

/* Outputs of two rows, which may be the same: both are read for four channels before these are written. */
static inline void glue_mve_pair(const glue_filter_mve *filter,
                                 const int8_t *const x[2],
                                 int8_t *const y[2],
                                 glue_mve_sums_function *multiply)
{
    const int32_t *stream = filter->stream;
    const int32_t depth = filter->steps * GLUE_MVE_STEP;
    for (int32_t c = 0; c < filter->channels; c += GLUE_MVE_LANES)
    {
        int32_t sums[2][GLUE_MVE_LANES];
        multiply(filter, stream, GLUE_MVE_LANES, x[0], depth, sums[0]);
        stream = multiply(filter, stream, GLUE_MVE_LANES, x[1], depth, sums[1]);
        const glue_mve_scale scale = glue_mve_read_scale(stream, GLUE_MVE_LANES, filter->form);
        stream += (filter->form == GLUE_MVE_GENERAL ? 3 : 2) * GLUE_MVE_LANES;
        const int32_t channels = glue_min(filter->channels - c, GLUE_MVE_LANES);
        glue_mve_store(filter, sums[0], &scale, y[0] + c, 1, channels);
        glue_mve_store(filter, sums[1], &scale, y[1] + c, 1, channels);
    }
}

/* Outputs of all rows. */
static inline void glue_mve_pairs(const glue_filter_mve *filter,
                                  const int8_t *x,
                                  int32_t pitch,
                                  int32_t rows,
                                  int8_t *y,
                                  glue_mve_sums_function *multiply)
{
    int32_t row = 0;
    while (row < rows)
    {
        const int32_t second = glue_min(row + 1, rows - 1);
        const int8_t *const inputs[2] = {x + row * pitch, x + second * pitch};
        int8_t *const outputs[2] = {y + row * filter->channels, y + second * filter->channels};
        glue_mve_pair(filter, inputs, outputs, multiply);
        /* As in the assembly form, an odd number of rows begins with two pairs that have a row in common. */
        row += row == 0 && (rows & 1) != 0 ? 1 : 2;
    }
}

/* Outputs of one row. */
static inline void glue_mve_dense(
    const glue_filter_mve *filter, int32_t depth, const int8_t *x, int8_t *y, glue_mve_sums_function *multiply)
{
    const int32_t *stream = filter->stream;
    for (int32_t c = 0; c < filter->channels; c += GLUE_MVE_DENSE_GROUP)
    {
        int32_t sums[GLUE_MVE_DENSE_GROUP];
        stream = multiply(filter, stream, GLUE_MVE_DENSE_GROUP, x, depth, sums);
        for (int32_t odd = 0; odd < 2; odd++)
        {
            const int32_t every_other[GLUE_MVE_LANES] = {sums[odd], sums[2 + odd], sums[4 + odd], sums[6 + odd]};
            const glue_mve_scale scale =
                glue_mve_read_scale(stream + odd * GLUE_MVE_LANES, GLUE_MVE_DENSE_GROUP, filter->form);
            const int32_t left = glue_max(filter->channels - c - odd + 1, 0) / 2;
            glue_mve_store(filter, every_other, &scale, y + c + odd, 2, glue_min(left, GLUE_MVE_LANES));
        }
        stream += (filter->form == GLUE_MVE_GENERAL ? 3 : 2) * GLUE_MVE_DENSE_GROUP;
    }
}

#endif /* GLUE_MVE_GROUPS_H */
