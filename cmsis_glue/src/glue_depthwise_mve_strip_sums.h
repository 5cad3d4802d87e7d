/* The C forms of the strip kernels: from eight sums of one channel to eight codes. */

#ifndef GLUE_DEPTHWISE_MVE_STRIP_SUMS_H
#define GLUE_DEPTHWISE_MVE_STRIP_SUMS_H

#include "glue_depthwise_mve_strip.h"

#include "glue_requantize_mve.h"

/* What follows the weights in a record. */
typedef struct
{
    int32_t bias;
    glue_scale_mve scale;
} glue_strip_numbers;

static inline glue_strip_numbers glue_strip_numbers_of(const int32_t *words, int32_t general)
{
    glue_strip_numbers numbers = {words[0], {words[1], 0, words[2], 0}};
    if (general != 0)
    {
        numbers.scale.left = words[3];
        numbers.scale.away = words[4];
    }
    return numbers;
}

/* Goes on by `advance` bytes, then reads the window of one channel there. */
static inline int8x16_t glue_strip_window(const glue_strip_mve *strip, const uint8_t **at, int32_t advance)
{
    const uint32x4_t positions = vreinterpretq_u32_s32(vldrwq_s32(strip->window));
    const int32x4_t words =
        vldrwq_gather_offset_s32((const int32_t *)(const void *)*at, vaddq_n_u32(positions, (uint32_t)advance));
    *at += advance;
    return vreinterpretq_s8_s32(words);
}

/* Bias, requantisation and clamp of the two halves of a step. */
static inline int16x8_t
glue_strip_codes(const glue_strip_mve *strip, const glue_strip_numbers *numbers, const int32_t *sums)
{
    const int32x4_t even = vaddq_n_s32(vldrwq_s32(sums), numbers->bias);
    const int32x4_t odd = vaddq_n_s32(vldrwq_s32(sums + 4), numbers->bias);
    return glue_narrow_mve(glue_scale_mve_by(even, numbers->scale),
                           glue_scale_mve_by(odd, numbers->scale),
                           strip->zero_point,
                           strip->lowest[0],
                           strip->highest[0]);
}

static inline void glue_strip_store(const glue_strip_mve *strip, int16x8_t codes, int8_t *y)
{
    vstrbq_scatter_offset_s16(y, vldrhq_u16(strip->spread), codes);
}

/* The even lanes only. */
static inline void glue_strip_store_half(const glue_strip_mve *strip, int16x8_t codes, int8_t *y)
{
    const uint32x4_t offsets = vreinterpretq_u32_s32(vldrwq_s32(strip->half_spread));
    vstrbq_scatter_offset_s32(y, offsets, vreinterpretq_s32_s16(codes));
}

/* The sums of one step, or of its first half; `at` is where the gathers have come to. */
typedef void (*glue_strip_sums)(
    const glue_strip_mve *strip, const int8_t *weights, const uint8_t *at, int32_t halves, int32_t *sums);

/* All channels of a strip. step_bytes: from step to step in the strip. */
static inline void glue_strip_loop(const glue_strip_mve *strip,
                                   glue_strip_sums sum_step,
                                   int32_t step_bytes,
                                   int32_t weight_words,
                                   int32_t general)
{
    const uint8_t *cells = strip->cells;
    int8_t *y_channel = strip->y;
    const int32_t record = weight_words + (general != 0 ? GLUE_STRIP_GENERAL_WORDS : GLUE_STRIP_SHORT_WORDS);
    for (const int32_t *words = strip->weights; words != strip->weights_end; words += record)
    {
        const int8_t *weights = (const int8_t *)words;
        const glue_strip_numbers numbers = glue_strip_numbers_of(words + weight_words, general);
        const uint8_t *at = cells;
        int8_t *y = y_channel;
        int32_t sums[8] = {0};
        for (int32_t step = 0; step < strip->steps; step++)
        {
            sum_step(strip, weights, at, 2, sums);
            glue_strip_store(strip, glue_strip_codes(strip, &numbers, sums), y);
            at += step_bytes;
            y += 2 * strip->spread[1];
        }
        at += strip->tail_cells;
        y += strip->tail_y;
        if (strip->tail == GLUE_STRIP_WHOLE)
        {
            sum_step(strip, weights, at, 2, sums);
            glue_strip_store(strip, glue_strip_codes(strip, &numbers, sums), y);
        }
        else if (strip->tail == GLUE_STRIP_HALF)
        {
            sum_step(strip, weights, at, 1, sums);
            glue_strip_store_half(strip, glue_strip_codes(strip, &numbers, sums), y);
        }
        cells += GLUE_STRIP_WORD;
        y_channel++;
    }
}

#endif /* GLUE_DEPTHWISE_MVE_STRIP_SUMS_H */
