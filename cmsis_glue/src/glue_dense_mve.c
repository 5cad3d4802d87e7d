/* The C form; the assembly form is in glue_dense_mve.S. */

#include "glue_mve_lanes.h"

#if !GLUE_MVE_ASM

/* Channels in one group; one half of it are the even ones, the other the odd ones. */
#define GROUP 8

arm_cmsis_nn_status glue_dense_mve(const glue_filter_mve *filter, int32_t depth, const int8_t *x, int8_t *y)
{
    const int32_t *stream = filter->stream;
    for (int32_t c = 0; c < filter->channels; c += GROUP)
    {
        const int8_t *w = (const int8_t *)(stream + GROUP);
        const int32_t *tables = stream + GROUP + filter->steps * GROUP * GLUE_MVE_STEP / 4;
        for (int32_t odd = 0; odd < 2; odd++)
        {
            int32_t sums[GLUE_MVE_LANES];
            for (int32_t i = 0; i < GLUE_MVE_LANES; i++)
            {
                sums[i] = stream[2 * i + odd];
            }
            for (int32_t step = 0; step < filter->steps; step++)
            {
                glue_mve_accumulate(sums,
                                    GLUE_MVE_LANES,
                                    x + step * GLUE_MVE_STEP,
                                    w + (step * GROUP + odd) * GLUE_MVE_STEP,
                                    2 * GLUE_MVE_STEP,
                                    glue_min(depth - step * GLUE_MVE_STEP, GLUE_MVE_STEP));
            }
            const glue_mve_scale scale = glue_mve_read_scale(tables + odd * GLUE_MVE_LANES, GROUP, filter->form);
            const int32_t left = glue_max(filter->channels - c - odd + 1, 0) / 2;
            glue_mve_store(filter, sums, &scale, y + c + odd, 2, glue_min(left, GLUE_MVE_LANES));
        }
        stream = tables + (filter->form == GLUE_MVE_GENERAL ? 3 : 2) * GROUP;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif
