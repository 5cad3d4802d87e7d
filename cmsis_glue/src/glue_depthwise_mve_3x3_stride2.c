#include "glue_depthwise_mve_strip.h"

#define WEIGHT_WORDS 4

#if !GLUE_ASM

#include "glue_depthwise_mve_strip_sums.h"

void glue_strip_fill_stride2_mve(const glue_strip_lines *lines, uint8_t *cells, int32_t positions, int32_t channels)
{
    const mve_pred16_t active = vctp8q((uint32_t)channels);
    for (int32_t i = 0; i < positions; i++)
    {
        int8x16_t rows[GLUE_STRIP_LINES];
        for (int32_t line = 0; line < GLUE_STRIP_LINES; line++)
        {
            rows[line] = vldrbq_z_s8(lines->x[line] + i * lines->step[line], active);
        }
        const int8x16x4_t upper = {{rows[0], rows[1], rows[2], rows[3]}};
        const int8x16x4_t lower = {{rows[2], rows[3], rows[4], rows[4]}};
        vst4q_s8((int8_t *)cells, upper);
        vst4q_s8((int8_t *)cells + GLUE_STRIP_CELL, lower);
        cells += 2 * GLUE_STRIP_CELL;
    }
}

/* Four positions of two lines, a window for each. */
static void
sum_singles(const glue_strip_mve *strip, const int8_t *weights, const uint8_t *at, int32_t halves, int32_t *sums)
{
    const int8x16_t kernel = vldrbq_s8(weights);
    for (int32_t i = 0; i < 2 * halves; i++)
    {
        int32_t *pair = sums + i / 2 * 4 + i % 2; /* lines 0 and 1 */
        pair[0] = vmladavq_s8(glue_strip_window(strip, &at, GLUE_STRIP_ADVANCE_POSITION), kernel);
        pair[2] = vmladavq_s8(glue_strip_window(strip, &at, GLUE_STRIP_ADVANCE_LINE), kernel);
    }
}

/* Eight positions of one line. */
static void
sum_line(const glue_strip_mve *strip, const int8_t *weights, const uint8_t *at, int32_t halves, int32_t *sums)
{
    const int8x16_t kernel = vldrbq_s8(weights);
    for (int32_t i = 0; i < 4 * halves; i++)
    {
        sums[i] = vmladavq_s8(glue_strip_window(strip, &at, GLUE_STRIP_ADVANCE), kernel);
    }
}

void glue_strip_3x3_stride2_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_singles, 16 * GLUE_STRIP_CELL, WEIGHT_WORDS, 0);
}

void glue_strip_3x3_stride2_general_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_singles, 16 * GLUE_STRIP_CELL, WEIGHT_WORDS, 1);
}

void glue_strip_3x3_stride2_line_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_line, 16 * GLUE_STRIP_CELL, WEIGHT_WORDS, 0);
}

void glue_strip_3x3_stride2_line_general_mve(glue_strip_mve *strip)
{
    glue_strip_loop(strip, sum_line, 16 * GLUE_STRIP_CELL, WEIGHT_WORDS, 1);
}

#endif

/* The fourth position has no weights: it reads the third again. */
#define FORM(numbers, run)                                                                                             \
    {                                                                                                                  \
        2, 2, 4, 5, 2 * GLUE_STRIP_CELL, WEIGHT_WORDS + numbers, {-192, -64, 64, 64}, glue_strip_fill_stride2_mve, run \
    }

const glue_strip_form glue_depthwise_3x3_stride2_mve = FORM(GLUE_STRIP_SHORT_WORDS, glue_strip_3x3_stride2_mve);
const glue_strip_form glue_depthwise_3x3_stride2_general_mve =
    FORM(GLUE_STRIP_GENERAL_WORDS, glue_strip_3x3_stride2_general_mve);

/* One line: a cell of lines 0 to 3 is enough. */
#define LINE(numbers, run)                                                                                             \
    {                                                                                                                  \
        2, 1, 8, 3, GLUE_STRIP_CELL, WEIGHT_WORDS + numbers, {-128, -64, 0, 0}, glue_strip_fill_mve, run               \
    }

const glue_strip_form glue_depthwise_3x3_stride2_line_mve =
    LINE(GLUE_STRIP_SHORT_WORDS, glue_strip_3x3_stride2_line_mve);
const glue_strip_form glue_depthwise_3x3_stride2_line_general_mve =
    LINE(GLUE_STRIP_GENERAL_WORDS, glue_strip_3x3_stride2_line_general_mve);
