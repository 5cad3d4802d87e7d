/* Sums of codes, four channels at a time. */

#ifndef GLUE_WORD_SUMS_H
#define GLUE_WORD_SUMS_H

#include "glue_pool_words.h"

#include "glue_dsp_intrinsics.h"

/* Cells whose sum fits in a halfword. */
#define GLUE_SUM_CELLS 256

/* Two channels to a word. */
typedef struct
{
    uint32_t even;
    uint32_t odd;
} glue_pair_sums;

/* Of four channels over at most GLUE_SUM_CELLS cells. */
static inline glue_pair_sums glue_sum_pairs(const int8_t *x, int32_t cells, int32_t step)
{
    glue_pair_sums sums = {0, 0};
    for (int32_t i = 0; i < cells; i++)
    {
        const uint32_t word = glue_load_channels(x);
#if GLUE_DSP
        sums.even = glue_sxtab16(sums.even, word);
        sums.odd = glue_sxtab16_odd(sums.odd, word);
#else
        const uint32_t shifted = word ^ UINT32_C(0x80808080); /* x + 128, so that the halves cannot borrow */
        sums.even += shifted & UINT32_C(0x00ff00ff);
        sums.odd += (shifted >> 8) & UINT32_C(0x00ff00ff);
#endif
        x += step;
    }
    return sums;
}

/* A half of them. */
static inline int32_t glue_half_of_pair(uint32_t half, int32_t cells)
{
#if GLUE_DSP
    (void)cells;
    return (int16_t)(uint16_t)half;
#else
    return (int32_t)(half & 0xffffU) - 128 * cells;
#endif
}

/* Adds the sums of four channels over any number of cells. */
static inline void glue_add_word_sums(const int8_t *x, int32_t cells, int32_t step, int32_t *sums)
{
    for (int32_t done = 0; done < cells; done += GLUE_SUM_CELLS)
    {
        const int32_t part = glue_min(cells - done, GLUE_SUM_CELLS);
        const glue_pair_sums run = glue_sum_pairs(x + done * step, part, step);
        sums[0] += glue_half_of_pair(run.even, part);
        sums[1] += glue_half_of_pair(run.odd, part);
        sums[2] += glue_half_of_pair(run.even >> 16, part);
        sums[3] += glue_half_of_pair(run.odd >> 16, part);
    }
}

#endif /* GLUE_WORD_SUMS_H */
