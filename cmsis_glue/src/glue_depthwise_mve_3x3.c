#include "glue_depthwise_mve_strip.h"

#define WEIGHT_WORDS 16

#if !GLUE_ASM

#include "glue_depthwise_mve_strip_sums.h"

/* Four positions of two lines: a 2 x 2 block for each window. */
static inline void sum_windows(const glue_strip_mve *strip,
                               const int8_t *weights,
                               const uint8_t *at,
                               int32_t advance,
                               int32_t halves,
                               int32_t *sums)
{
    for (int32_t i = 0; i < 4 * halves; i += 4)
    {
        const int8x16_t window = glue_strip_window(strip, &at, advance);
        for (int32_t k = 0; k < 4; k++)
        {
            sums[i + k] = vmladavq_s8(window, vldrbq_s8(weights + 16 * k));
        }
    }
}

static void
sum_blocks(const glue_strip_mve *strip, const int8_t *weights, const uint8_t *at, int32_t halves, int32_t *sums)
{
    sum_windows(strip, weights, at, GLUE_STRIP_ADVANCE, halves, sums);
}

static void
sum_narrow(const glue_strip_mve *strip, const int8_t *weights, const uint8_t *at, int32_t halves, int32_t *sums)
{
    sum_windows(strip, weights, at, GLUE_STRIP_ADVANCE_NARROW, halves, sums);
}

/* Eight positions of one line: two for each window. */
static void
sum_pairs(const glue_strip_mve *strip, const int8_t *weights, const uint8_t *at, int32_t halves, int32_t *sums)
{
    for (int32_t i = 0; i < 4 * halves; i += 2)
    {
        const int8x16_t window = glue_strip_window(strip, &at, GLUE_STRIP_ADVANCE);
        sums[i] = vmladavq_s8(window, vldrbq_s8(weights));
        sums[i + 1] = vmladavq_s8(window, vldrbq_s8(weights + 16));
    }
}

void glue_strip_3x3_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_blocks, 4 * GLUE_STRIP_CELL, WEIGHT_WORDS, 0);
}

void glue_strip_3x3_general_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_blocks, 4 * GLUE_STRIP_CELL, WEIGHT_WORDS, 1);
}

void glue_strip_3x3_narrow_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_narrow, 4 * GLUE_STRIP_CELL_NARROW, WEIGHT_WORDS, 0);
}

void glue_strip_3x3_narrow_general_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_narrow, 4 * GLUE_STRIP_CELL_NARROW, WEIGHT_WORDS, 1);
}

void glue_strip_3x3_line_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_pairs, 8 * GLUE_STRIP_CELL, WEIGHT_WORDS, 0);
}

void glue_strip_3x3_line_general_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_pairs, 8 * GLUE_STRIP_CELL, WEIGHT_WORDS, 1);
}

#endif

#define FORM(lines, outputs, inputs, numbers, run)                                                                     \
    {                                                                                                                  \
        1, lines, outputs, inputs, GLUE_STRIP_CELL, WEIGHT_WORDS + numbers, {-128, -64, 0, 64}, glue_strip_fill_mve,   \
            run                                                                                                        \
    }

const glue_strip_form glue_depthwise_3x3_mve = FORM(2, 4, 4, GLUE_STRIP_SHORT_WORDS, glue_strip_3x3_mve);
const glue_strip_form glue_depthwise_3x3_general_mve =
    FORM(2, 4, 4, GLUE_STRIP_GENERAL_WORDS, glue_strip_3x3_general_mve);
const glue_strip_form glue_depthwise_3x3_line_mve = FORM(1, 8, 3, GLUE_STRIP_SHORT_WORDS, glue_strip_3x3_line_mve);
const glue_strip_form glue_depthwise_3x3_line_general_mve =
    FORM(1, 8, 3, GLUE_STRIP_GENERAL_WORDS, glue_strip_3x3_line_general_mve);

/* Two positions of eight channels at a time: they lie side by side in the image as in the strip. */
static void fill_narrow(const glue_strip_lines *lines, uint8_t *cells, int32_t positions, int32_t channels)
{
    glue_strip_lines pairs = *lines;
    (void)channels;
    for (int32_t i = 0; i < 4; i++)
    {
        pairs.step[i] *= 2;
    }
    glue_strip_fill_mve(&pairs, cells, positions / 2, GLUE_STRIP_CHANNELS);
}

#define NARROW(numbers, run)                                                                                           \
    {                                                                                                                  \
        1, 2, 4, 4, GLUE_STRIP_CELL_NARROW, WEIGHT_WORDS + numbers, {-64, -32, 0, 32}, fill_narrow, run                \
    }

const glue_strip_form glue_depthwise_3x3_narrow_mve = NARROW(GLUE_STRIP_SHORT_WORDS, glue_strip_3x3_narrow_mve);
const glue_strip_form glue_depthwise_3x3_narrow_general_mve =
    NARROW(GLUE_STRIP_GENERAL_WORDS, glue_strip_3x3_narrow_general_mve);
