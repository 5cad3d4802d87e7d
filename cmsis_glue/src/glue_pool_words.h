/* What pools share that walk four channels at a time. */

#ifndef GLUE_POOL_WORDS_H
#define GLUE_POOL_WORDS_H

#include "glue.h"

#include "glue_internal.h"

#include <string.h>

/* The cells of a window that lie inside the image: the first one, and how many there are. */
typedef struct
{
    const int8_t *first;
    int32_t rows;
    int32_t columns;
    int32_t row_step;
} glue_pool_window;

/* Finds the window of an output position; returns 0 when it is empty. A window of whole rows becomes one long row. */
static inline int glue_place_pool(
    const glue_pool_params *params, const int8_t *image, int32_t output_y, int32_t output_x, glue_pool_window *window)
{
    const int32_t y = output_y * params->stride.h - params->padding.h;
    const int32_t x = output_x * params->stride.w - params->padding.w;
    const glue_span rows = glue_taps_inside(y, 1, params->window.h, params->input.h);
    const glue_span columns = glue_taps_inside(x, 1, params->window.w, params->input.w);
    window->rows = rows.end - rows.begin;
    window->columns = columns.end - columns.begin;
    window->row_step = params->input.w * params->input.c;
    if (window->rows < 1 || window->columns < 1)
    {
        return 0;
    }
    window->first = image + ((y + rows.begin) * params->input.w + x + columns.begin) * params->input.c;
    if (window->columns == params->input.w)
    {
        window->columns *= window->rows;
        window->rows = 1;
    }
    return 1;
}

/* All channels of one output position. */
typedef void (*glue_pool_position)(const glue_pool_params *params, const glue_pool_window *window, int8_t *output);

static inline arm_cmsis_nn_status
glue_pool(const glue_pool_params *params, const int8_t *input, int8_t *output, glue_pool_position position)
{
    for (int32_t n = 0; n < params->input.n; n++)
    {
        for (int32_t y = 0; y < params->output.h; y++)
        {
            for (int32_t x = 0; x < params->output.w; x++)
            {
                glue_pool_window window;
                if (!glue_place_pool(params, input, y, x, &window))
                {
                    return ARM_CMSIS_NN_ARG_ERROR;
                }
                position(params, &window, output);
                output += params->input.c;
            }
        }
        input += params->input.h * params->input.w * params->input.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

/* Whether words may be loaded from any address; elsewhere they are where a cell holds a multiple of four channels. */
#if defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED)
#define GLUE_ALIGNED_ONLY 1
#else
#define GLUE_ALIGNED_ONLY 0
#endif

/* How many channels are read as words. */
static inline int32_t glue_word_channels(int32_t channels)
{
    return GLUE_ALIGNED_ONLY && channels % 4 != 0 ? 0 : channels - channels % 4;
}

static inline uint32_t glue_load_channels(const int8_t *x)
{
    uint32_t word;
#if GLUE_ALIGNED_ONLY
    memcpy(&word, __builtin_assume_aligned(x, 4), sizeof word);
#else
    memcpy(&word, x, sizeof word);
#endif
    return word;
}

#endif /* GLUE_POOL_WORDS_H */
