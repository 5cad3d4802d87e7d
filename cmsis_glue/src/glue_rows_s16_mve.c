/* The C form; the assembly form is in glue_rows_s16_mve.S. */

#include "glue_s16_mve.h"

#include "glue_mve_lanes.h"
#include "glue_mve_lanes_s16.h"

#if !GLUE_MVE_ASM

/* Requantise four sums and clamp them; store the first `count`. */
static void
store(const glue_filter_mve *filter, const int32_t *sums, const glue_mve_scale *scale, int16_t *y, int32_t count)
{
#if GLUE_MVE
    int32x4_t v = vqshlq_s32(vldrwq_s32(sums), vldrwq_s32(scale->left));
    v = glue_high_mve(v, vldrwq_s32(scale->multiplier));
    v = glue_shift_right_mve(v, vldrwq_s32(scale->right));
    v = vmaxq_s32(vminq_s32(v, vdupq_n_s32(filter->high)), vdupq_n_s32(filter->low));
    vstrhq_p_s32(y, v, vctp32q((uint32_t)count));
#else
    for (int32_t c = 0; c < count; c++)
    {
        const int64_t wide = (int64_t)sums[c] * (INT64_C(1) << scale->left[c]);
        const int32_t saturated = wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
        const int32_t code = glue_requantize(saturated, scale->multiplier[c], scale->right[c]);
        y[c] = (int16_t)glue_min(glue_max(code, filter->low), filter->high);
    }
#endif
}

static const int32_t *multiply_row(const glue_filter_mve *filter, const int32_t *stream, const int16_t *x, int32_t *sums)
{
    memcpy(sums, stream, GLUE_MVE_LANES * sizeof *sums);
    const int8_t *w = (const int8_t *)(stream + GLUE_MVE_LANES);
    for (int32_t step = 0; step < filter->steps; step++)
    {
        glue_accumulate_s16_mve(sums, x, w);
        x += GLUE_S16_MVE_STEP;
        w += GLUE_MVE_LANES * GLUE_S16_MVE_STEP;
    }
    return stream + GLUE_MVE_LANES + filter->steps * GLUE_S16_MVE_STEP;
}

/* Outputs of two rows, which may be the same: both are read for four channels before these are written. */
static void multiply_pair(const glue_filter_mve *filter, const int16_t *const x[2], int16_t *const y[2])
{
    const int32_t *stream = filter->stream;
    const int32_t all = filter->channels / 2;
    for (int32_t c = 0; c < all; c += GLUE_MVE_LANES)
    {
        int32_t sums[2][GLUE_MVE_LANES];
        multiply_row(filter, stream, x[0], sums[0]);
        stream = multiply_row(filter, stream, x[1], sums[1]);
        const glue_mve_scale scale = glue_mve_read_scale(stream, GLUE_MVE_LANES, filter->form);
        stream += (filter->form == GLUE_MVE_GENERAL ? 3 : 2) * GLUE_MVE_LANES;
        const int32_t channels = glue_min(all - c, GLUE_MVE_LANES);
        store(filter, sums[0], &scale, y[0] + c, channels);
        store(filter, sums[1], &scale, y[1] + c, channels);
    }
}

void glue_rows_s16_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
{
    int32_t row = 0;
    while (row < rows)
    {
        const int32_t second = glue_min(row + 1, rows - 1);
        const int16_t *const inputs[2] = {(const int16_t *)(const void *)(x + row * pitch),
                                          (const int16_t *)(const void *)(x + second * pitch)};
        int16_t *const outputs[2] = {(int16_t *)(void *)(y + row * filter->channels),
                                     (int16_t *)(void *)(y + second * filter->channels)};
        multiply_pair(filter, inputs, outputs);
        /* As in the assembly form, an odd number of rows begins with two pairs that have a row in common. */
        row += row == 0 && (rows & 1) != 0 ? 1 : 2;
    }
}

#endif
