#include "glue_scalar.h"

#include "glue_conv_baseline_tile.h"
#include "glue_internal.h"

#include <stddef.h>

/* Channels of one stream. */
#define GROUP 2

/* Runs a pair of pixels over all channels. */
static void run_pair(glue_tile_baseline_run *run, int8_t *ya, int8_t *yb)
{
    const glue_scalar_product *const product = run->product;
    run->ya = ya;
    run->yb = yb;
    run->stream = product->groups;
    run->count = product->group_count;
    if (run->count > 0)
    {
        glue_tile_baseline(run);
    }
    if (product->tail == NULL)
    {
        return;
    }
    run->stream = product->tail;
    run->count = 1;
    if (product->channels >= GROUP)
    {
        run->ya = ya + product->channels - GROUP;
        run->yb = yb + product->channels - GROUP;
        glue_tile_baseline(run);
        return;
    }
    int8_t codes[2][GROUP];
    run->ya = codes[0];
    run->yb = codes[1];
    glue_tile_baseline(run);
    *ya = codes[0][0];
    *yb = codes[1][0];
}

/* A window on the image: its first tap, and whether it lies inside as rows of codes. */
typedef struct
{
    int32_t top;
    int32_t left;
    int32_t dense;
} window;

/* The codes of a pixel of the image, or of the padding. */
static const int8_t *
codes_at(const glue_conv_scalar_layer *layer, const int8_t *x, const int8_t *padding, int32_t row, int32_t column)
{
    if (row < 0 || row >= layer->input.h || column < 0 || column >= layer->input.w)
    {
        return padding;
    }
    return x + (row * layer->input.w + column) * layer->channels;
}

/* Interleaves the windows of two output pixels into words, pixel by pixel. */
static void pair_windows(const glue_conv_scalar_layer *layer,
                         const int8_t *x,
                         const int8_t *padding,
                         const window *a,
                         const window *b,
                         int32_t *to)
{
    for (int32_t ky = 0; ky < layer->kernel.h; ky++)
    {
        const int32_t down = ky * layer->dilation.h;
        for (int32_t kx = 0; kx < layer->kernel.w; kx++)
        {
            const int32_t right = kx * layer->dilation.w;
            to = glue_pair_codes_baseline(to,
                                          codes_at(layer, x, padding, a->top + down, a->left + right),
                                          codes_at(layer, x, padding, b->top + down, b->left + right),
                                          layer->channels);
        }
    }
}

/* The same for windows that lie inside the image. */
static void pair_dense_windows(
    const glue_conv_scalar_layer *layer, const int8_t *x, const window *a, const window *b, int32_t *to)
{
    const int32_t line = layer->input.w * layer->channels;
    const int32_t row = layer->kernel.w * layer->channels;
    const int8_t *from = x + a->top * line + a->left * layer->channels;
    const int32_t distance = (b->top - a->top) * line + (b->left - a->left) * layer->channels;
    for (int32_t ky = layer->kernel.h; ky > 0; ky--)
    {
        to = glue_pair_codes_baseline(to, from, from + distance, row);
        from += line * layer->dilation.h;
    }
}

arm_cmsis_nn_status
glue_conv_baseline(const glue_conv_scalar_layer *layer, const int8_t *x, int8_t *y, int32_t *scratch)
{
    const int32_t depth = layer->product.depth;
    const int32_t channels = layer->product.channels;
    const int32_t reach_h = layer->dilation.h * (layer->kernel.h - 1);
    const int32_t reach_w = layer->dilation.w * (layer->kernel.w - 1);
    const int32_t rows = layer->kernel.w == 1 || layer->dilation.w == 1;
    glue_tile_baseline_run run;
    run.pixels = scratch;
    run.steps = (depth + 1) / 2;
    run.epilogue = layer->product.epilogue;
    run.product = &layer->product;
    int8_t *const padding = (int8_t *)(scratch + 2 * run.steps);
    for (int32_t c = 0; c < layer->columns; c++)
    {
        padding[c] = (int8_t)layer->zero_point;
    }
    scratch[2 * run.steps - 1] = 0; /* the second half of the last step, when depth is odd */
    window at[2];
    int32_t waiting = 0;
    int32_t top = -layer->padding.h;
    for (int32_t oy = 0; oy < layer->output.h; oy++)
    {
        /* Windows from `left` below `end` are dense. */
        const int32_t end = rows && top >= 0 && top + reach_h < layer->input.h ? layer->input.w - reach_w : 0;
        int32_t left = -layer->padding.w;
        for (int32_t ox = layer->output.w; ox > 0; ox--)
        {
            window *const here = &at[waiting];
            here->top = top;
            here->left = left;
            here->dense = left >= 0 && left < end;
            left += layer->stride.w;
            waiting = !waiting;
            if (waiting)
            {
                continue;
            }
            if (at[0].dense && at[1].dense)
            {
                pair_dense_windows(layer, x, &at[0], &at[1], scratch);
            }
            else
            {
                pair_windows(layer, x, padding, &at[0], &at[1], scratch);
            }
            run_pair(&run, y, y + channels);
            y += 2 * channels;
        }
        top += layer->stride.h;
    }
    if (waiting)
    {
        pair_windows(layer, x, padding, &at[0], &at[0], scratch);
        run_pair(&run, y, y);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
