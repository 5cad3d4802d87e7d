#include "glue_scalar.h"

#include "glue_conv_scalar_tile.h"
#include "glue_scalar_internal.h"

#include <stddef.h>
#include <string.h>

/* Channels of one stream. */
#define GROUP 4

/* The last channels, where they do not fill a group, follow the others after so many pairs. */
#define PAIRS_TOGETHER 8

static int32_t stream_words(int32_t depth)
{
    return GROUP + depth + GROUP * GLUE_SCALAR_NUMBERS;
}

/* Fills a column of whole words. */
static void fill_column(int8_t *column, int32_t value, int32_t bytes)
{
    const uint32_t word = (uint32_t)(uint8_t)value * 0x01010101U;
    for (int32_t i = 0; i < bytes; i += 4)
    {
        memcpy(column + i, &word, 4);
    }
}

/* Gathers the window whose first tap is at (top, left), the zero point where it leaves the image. */
static void gather_window(const glue_conv_scalar_layer *layer, const int8_t *x, int32_t top, int32_t left, int8_t *to)
{
    const int32_t channels = layer->channels;
    const glue_span rows = glue_taps_inside(top, layer->dilation.h, layer->kernel.h, layer->input.h);
    const glue_span columns = glue_taps_inside(left, layer->dilation.w, layer->kernel.w, layer->input.w);
    glue_rows copy;
    copy.windows = 1;
    copy.to_step = 0;
    copy.from_step = 0;
    copy.to_pitch = layer->kernel.w * channels;
    copy.from_pitch = layer->input.w * layer->dilation.h * channels;
    copy.rows = rows.end - rows.begin;
    fill_column(to, layer->zero_point, layer->product.depth);
    if (copy.rows <= 0 || columns.end <= columns.begin)
    {
        return;
    }
    top += rows.begin * layer->dilation.h;
    left += columns.begin * layer->dilation.w;
    copy.from = x + (top * layer->input.w + left) * channels;
    copy.to = to + rows.begin * copy.to_pitch + columns.begin * channels;
    copy.bytes = channels;
    int32_t count = columns.end - columns.begin;
    if (layer->dilation.w == 1)
    {
        copy.bytes = count * channels;
        count = 1;
    }
    for (; count > 0; count--)
    {
        glue_copy_rows_scalar(&copy);
        copy.from += layer->dilation.w * channels;
        copy.to += channels;
    }
}

/* Pairs, or one pixel, over the channels of some streams. */
typedef void (*tile_function)(const glue_tile_scalar_run *run);

/* Runs one pair, or several that lie behind each other, over all channels. */
static void run_product(const glue_scalar_product *product, glue_tile_scalar_run *run, tile_function tile)
{
    const int32_t words = stream_words(product->depth);
    int8_t *const ya = run->ya;
    int8_t *const yb = run->yb;
    if (product->group_count > 0)
    {
        run->stream = product->groups;
        run->end = product->groups + product->group_count * words;
        tile(run);
    }
    if (product->tail == NULL)
    {
        return;
    }
    run->stream = product->tail;
    run->end = product->tail + words;
    if (product->channels >= GROUP)
    {
        run->ya = ya + product->channels - GROUP;
        run->yb = yb + product->channels - GROUP;
        tile(run);
        return;
    }
    const int8_t *const a = run->a;
    const int8_t *const b = run->b;
    for (int32_t i = 0; i < run->pairs; i++)
    {
        int8_t codes[2][GROUP] = {{0}}; /* one pixel has no second ones, and both outputs at one place */
        glue_tile_scalar_run one = *run;
        one.a = a + i * run->x_step;
        one.b = b + i * run->x_step;
        one.ya = codes[0];
        one.yb = codes[1];
        one.pairs = 1;
        tile(&one);
        for (int32_t c = 0; c < product->channels; c++)
        {
            yb[i * run->y_step + c] = codes[1][c];
            ya[i * run->y_step + c] = codes[0][c];
        }
    }
}

/* Pixels that lie behind each other, `pitch` codes apart. */
static void run_pixels(glue_tile_scalar_run *run, const int8_t *x, int32_t pitch, int8_t *y, int32_t count)
{
    const glue_scalar_product *const product = run->product;
    run->x_step = 2 * pitch;
    run->y_step = 2 * product->channels;
    int32_t left = count / 2;
    while (left > 0)
    {
        const int32_t done = count / 2 - left;
        run->pairs = product->tail != NULL ? glue_min(left, PAIRS_TOGETHER) : left;
        run->a = x + done * run->x_step;
        run->b = run->a + pitch;
        run->ya = y + done * run->y_step;
        run->yb = run->ya + product->channels;
        left -= run->pairs;
        run_product(product, run, glue_tile_scalar);
    }
    if (count % 2 != 0)
    {
        run->a = x + (count - 1) * pitch;
        run->b = run->a;
        run->ya = y + (count - 1) * product->channels;
        run->yb = run->ya;
        run->pairs = 1;
        run_product(product, run, run->single != NULL ? run->single : glue_tile_scalar);
    }
}

/* Windows gathered into columns, a few at a time. */
static void
run_gathered(const glue_conv_scalar_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch, glue_tile_scalar_run *run)
{
    const int32_t pitch = (layer->product.depth + 3) & ~3;
    const int32_t reach_h = layer->dilation.h * (layer->kernel.h - 1);
    const int32_t reach_w = layer->dilation.w * (layer->kernel.w - 1);
    /* Windows from `begin` below `end` need no padding on the left and right, and are rows of codes. */
    const int32_t begin = (layer->padding.w + layer->stride.w - 1) / layer->stride.w;
    const int32_t room = layer->input.w - reach_w + layer->padding.w;
    const int32_t end = room > 0 && layer->dilation.w == 1 ? (room - 1) / layer->stride.w + 1 : 0;
    glue_rows copy;
    copy.to = scratch;
    copy.bytes = layer->kernel.w * layer->channels;
    copy.rows = layer->kernel.h;
    copy.to_pitch = copy.bytes;
    copy.from_pitch = layer->input.w * layer->dilation.h * layer->channels;
    copy.to_step = pitch;
    copy.from_step = layer->stride.w * layer->channels;
    int32_t filled = 0;
    int32_t top = -layer->padding.h;
    for (int32_t oy = 0; oy < layer->output.h; oy++)
    {
        const int32_t dense = top >= 0 && top + reach_h < layer->input.h;
        int32_t ox = 0;
        while (ox < layer->output.w)
        {
            const int32_t left = ox * layer->stride.w - layer->padding.w;
            copy.windows = 1;
            if (dense && ox >= begin && ox < end)
            {
                copy.windows = glue_min(glue_min(end, layer->output.w) - ox, layer->columns - filled);
                copy.from = x + (top * layer->input.w + left) * layer->channels;
                glue_copy_rows_scalar(&copy);
            }
            else
            {
                gather_window(layer, x, top, left, copy.to);
            }
            copy.to += copy.windows * pitch;
            ox += copy.windows;
            filled += copy.windows;
            if (filled == layer->columns)
            {
                run_pixels(run, scratch, pitch, y, filled);
                y += filled * layer->product.channels;
                filled = 0;
                copy.to = scratch;
            }
        }
        top += layer->stride.h;
    }
    run_pixels(run, scratch, pitch, y, filled);
}

/* Windows that are one run of codes inside the image, read where they are. */
static void run_in_place(const glue_conv_scalar_layer *layer, const int8_t *x, int8_t *y, glue_tile_scalar_run *run)
{
    const int32_t channels = layer->product.channels;
    const int32_t line = layer->input.w * layer->stride.h * layer->channels;
    const int32_t pitch = layer->stride.w * layer->channels;
    const int32_t dense = layer->stride.h == 1 && layer->input.w == layer->stride.w * layer->output.w;
    const int32_t lines = dense ? 1 : layer->output.h;
    const int32_t count = dense ? layer->output.h * layer->output.w : layer->output.w;
    for (int32_t i = 0; i < lines; i++)
    {
        run_pixels(run, x, pitch, y, count);
        x += line;
        y += count * channels;
    }
}

arm_cmsis_nn_status
glue_conv_scalar(const glue_conv_scalar_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch)
{
    glue_tile_scalar_run run;
    run.depth = layer->product.depth;
    run.epilogue = layer->product.epilogue;
    run.product = &layer->product;
    run.single = layer->single;
    if (layer->columns == 0)
    {
        run_in_place(layer, x, y, &run);
    }
    else
    {
        run_gathered(layer, x, y, scratch, &run);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
