#include "glue_conv_s16_dsp_tile.h"
#include "glue_dsp_intrinsics.h"
#include "glue_internal.h"

void glue_conv_s16_dsp_windows(glue_windows_s16_dsp *windows, const glue_layer_s16_params *layer, const int16_t *input)
{
    const cmsis_nn_dims *x = &layer->input, *y = &layer->output;
    windows->layer = layer;
    windows->image = input;
    windows->pixels = y->n * y->h * y->w;
    windows->flat = layer->filter.w * layer->filter.h == 1 && x->w == y->w && x->h == y->h;
    windows->row = 0;
    windows->column = 0;
}

/* A run of contiguous codes to pairs, `pitch` words apart. */
static void copy_run(const int16_t *x, int32_t length, int32_t *column, int32_t pitch)
{
    const int16_t *const end = x + length / 2 * 2;
    for (; end - x >= 8; x += 8)
    {
        const uint32_t a = glue_load32(x), b = glue_load32(x + 2), c = glue_load32(x + 4), d = glue_load32(x + 6);
        column[0] = (int32_t)a;
        column[pitch] = (int32_t)b;
        column += 2 * pitch;
        column[0] = (int32_t)c;
        column[pitch] = (int32_t)d;
        column += 2 * pitch;
    }
    for (; x != end; x += 2, column += pitch)
    {
        *column = (int32_t)glue_load32(x);
    }
    if (length % 2 != 0)
    {
        *column = (int32_t)(uint16_t)*x;
    }
}

/* The same with 0 for codes outside [begin, end); x is the code at begin. */
static void copy_part(const int16_t *x, int32_t begin, int32_t end, int32_t length, int32_t *column, int32_t pitch)
{
    for (int32_t i = 0; i < length; i += 2, column += pitch)
    {
        const uint32_t first = i >= begin && i < end ? (uint16_t)*x++ : 0U;
        const uint32_t second = i + 1 >= begin && i + 1 < end ? (uint16_t)*x++ : 0U;
        *column = (int32_t)(first | second << 16);
    }
}

/* The window with its first tap at row y and column x of the image. */
static void copy_window(const glue_windows_s16_dsp *windows, int32_t y, int32_t x, int32_t *column, int32_t pitch)
{
    const glue_layer_s16_params *const p = windows->layer;
    const int32_t taps = p->dilation.w == 1 ? p->filter.w : 1, channels = p->input.c, length = taps * channels;
    for (int32_t ky = 0; ky < p->filter.h; ky++, y += p->dilation.h)
    {
        for (int32_t kx = 0; kx < p->filter.w; kx += taps)
        {
            const int32_t first = x + kx * p->dilation.w;
            const int32_t begin = glue_max(-first, 0) * channels;
            const int32_t end = y >= 0 && y < p->input.h ? glue_min(p->input.w - first, taps) * channels : 0;
            const int16_t *const from = begin < end ? windows->image + ((y * p->input.w + first) * channels + begin)
                                                    : windows->image;
            if (begin == 0 && end == length)
            {
                copy_run(from, length, column, pitch);
            }
            else
            {
                copy_part(from, begin, end, length, column, pitch);
            }
            column += (length + 1) / 2 * pitch;
        }
    }
}

static void next_window(glue_windows_s16_dsp *windows, int32_t *column, int32_t pitch)
{
    const glue_layer_s16_params *const p = windows->layer;
    if (windows->flat)
    {
        copy_run(windows->image, p->input.c, column, pitch);
        windows->image += p->input.c;
        return;
    }
    copy_window(windows,
                windows->row * p->stride.h - p->padding.h,
                windows->column * p->stride.w - p->padding.w,
                column,
                pitch);
    if (++windows->column == p->output.w)
    {
        windows->column = 0;
        if (++windows->row == p->output.h)
        {
            windows->row = 0;
            windows->image += p->input.h * p->input.w * p->input.c;
        }
    }
}

int32_t glue_conv_s16_dsp_columns(glue_windows_s16_dsp *windows, int32_t *column)
{
    const int32_t count = windows->pixels > 1 ? 2 : 1;
    next_window(windows, column, count);
    if (count == 2)
    {
        next_window(windows, column + 1, 2);
    }
    windows->pixels -= count;
    return count;
}
