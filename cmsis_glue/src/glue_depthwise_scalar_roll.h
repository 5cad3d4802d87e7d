/* Lines of a 3x3 depthwise convolution in C: the window rolls along the line. Not for generated code. */

#ifndef GLUE_DEPTHWISE_SCALAR_ROLL_H
#define GLUE_DEPTHWISE_SCALAR_ROLL_H

#include "glue_depthwise_scalar_line.h"

/* Makes a code of a sum. */
typedef int8_t (*glue_line_output)(const glue_depthwise_scalar_lines *run, int32_t sum);

/* Three codes across the line. */
typedef struct
{
    int32_t v0;
    int32_t v1;
    int32_t v2;
} glue_column;

static inline glue_column glue_load_column(const int8_t *x, int32_t pitch)
{
    const glue_column codes = {x[0], x[pitch], x[2 * pitch]};
    return codes;
}

/* Products of a column with the weights of the first (0) or last (1) tap along the line, or of the middle. */
static inline int32_t glue_outer_products(const glue_depthwise_scalar_lines *run, glue_column codes, int32_t side)
{
    return codes.v0 * run->outer[0][side] + codes.v1 * run->outer[1][side] + codes.v2 * run->outer[2][side];
}

static inline int32_t glue_middle_products(const glue_depthwise_scalar_lines *run, glue_column codes)
{
    return codes.v0 * run->middle[0] + codes.v1 * run->middle[1] + codes.v2 * run->middle[2];
}

static inline void glue_roll_lines_1(const glue_depthwise_scalar_lines *run, glue_line_output finish)
{
    for (int32_t line = 0; line < run->lines; line++)
    {
        const int8_t *x = run->x + line * run->x_line;
        int8_t *y = run->y + line * run->y_line;
        int32_t next = run->first; /* the output that has seen its first tap */
        if (!run->before)
        {
            next = run->bias + glue_outer_products(run, glue_load_column(x, run->pitch), 0);
            x += run->step;
        }
        glue_column codes = glue_load_column(x, run->pitch);
        int32_t now = next + glue_middle_products(run, codes); /* the output that has seen two */
        next = run->bias + glue_outer_products(run, codes, 0);
        for (int32_t i = run->count - run->after; i > 0; i--)
        {
            x += run->step;
            codes = glue_load_column(x, run->pitch);
            *y = finish(run, now + glue_outer_products(run, codes, 1));
            y += run->step;
            now = next + glue_middle_products(run, codes);
            next = run->bias + glue_outer_products(run, codes, 0);
        }
        if (run->after)
        {
            *y = finish(run, now + run->last);
        }
    }
}

static inline void glue_roll_lines_2(const glue_depthwise_scalar_lines *run, glue_line_output finish)
{
    for (int32_t line = 0; line < run->lines; line++)
    {
        const int8_t *x = run->x + line * run->x_line;
        int8_t *y = run->y + line * run->y_line;
        int32_t now = run->first;
        if (!run->before)
        {
            now = run->bias + glue_outer_products(run, glue_load_column(x, run->pitch), 0);
            x += run->step;
        }
        for (int32_t i = run->count - run->after; i > 0; i--)
        {
            now += glue_middle_products(run, glue_load_column(x, run->pitch));
            x += run->step;
            const glue_column codes = glue_load_column(x, run->pitch);
            x += run->step;
            *y = finish(run, now + glue_outer_products(run, codes, 1));
            y += run->y_step;
            now = run->bias + glue_outer_products(run, codes, 0);
        }
        if (run->after)
        {
            *y = finish(run, now + glue_middle_products(run, glue_load_column(x, run->pitch)) + run->last);
        }
    }
}

#endif /* GLUE_DEPTHWISE_SCALAR_ROLL_H */
