#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"
#include "glue_internal.h"

/* Copies the part of a window that is inside the image; its runs come to lie `step` codes apart. */
static void copy_inside(const glue_windows_dsp *windows, const glue_corner_dsp *corner, int8_t *to, int32_t step)
{
    const glue_conv_dsp_params *params = windows->params;
    const int32_t channels = params->input.c, row = params->dilation.h * params->input.w * channels;
    const int32_t begin = glue_max(-corner->x, 0) * channels;
    const int32_t end = glue_min(params->input.w - corner->x, windows->taps) * channels;
    const int8_t *from = windows->codes + corner->offset;
    int32_t y = corner->y;
    for (int32_t ky = 0; ky < params->kernel.h; ky++)
    {
        if (y >= 0 && y < params->input.h)
        {
            int32_t i = begin;
            for (; i <= end - 4; i += 4)
            {
                glue_store32(to + i, glue_load32(from + i));
            }
            for (; i < end; i++)
            {
                to[i] = from[i];
            }
        }
        y += params->dilation.h;
        from += row;
        to += step;
    }
}

/* Copies windows that leave the image, with the zero point around, to where pairs come after the codes were read. */
static void complete(const glue_windows_dsp *windows,
                     const glue_corner_dsp corners[2],
                     const int32_t inside[2],
                     int32_t *column,
                     glue_runs_dsp *runs)
{
    const glue_conv_dsp_params *params = windows->params;
    const int32_t length = runs->length, gap = 2 * length - length / 4 * 4;
    const uint32_t zeros = (uint32_t)(uint8_t)params->input_zero * 0x01010101U;
    int8_t *const copies = (int8_t *)(void *)column + params->edge;
    int8_t *const end = copies + params->kernel.h * 2 * length;
    for (int8_t *to = copies; to < end; to += 4)
    {
        glue_store32(to, zeros);
    }
    if (!inside[0])
    {
        copy_inside(windows, corners, copies, 2 * length);
        runs->a = copies;
        runs->a_gap = gap;
    }
    if (!inside[1])
    {
        copy_inside(windows, corners + 1, copies + length, 2 * length);
        runs->b = copies + length;
        runs->b_gap = gap;
    }
}

/* Any two windows, column by column where the taps lie apart. */
static int32_t *
general_columns(const glue_windows_dsp *windows, glue_corner_dsp corners[2], const int32_t inside[2], int32_t *column)
{
    const glue_conv_dsp_params *params = windows->params;
    for (int32_t kx = 0; kx < params->kernel.w; kx += windows->taps)
    {
        glue_runs_dsp runs = windows->runs;
        runs.a = windows->codes + corners[0].offset;
        runs.b = windows->codes + corners[1].offset;
        if (!(inside[0] & inside[1]))
        {
            complete(windows, corners, inside, column, &runs);
        }
        column = glue_conv_dsp_runs(&runs, column);
        for (int32_t i = 0; i < 2; i++)
        {
            corners[i].x += params->dilation.w;
            corners[i].offset += params->dilation.w * params->input.c;
        }
    }
    return column;
}

static int32_t is_inside(const glue_windows_dsp *windows, glue_corner_dsp corner)
{
    return (uint32_t)corner.x < windows->inside_x && (uint32_t)corner.y < windows->inside_y;
}

static glue_corner_dsp after(const glue_windows_dsp *windows, glue_corner_dsp corner)
{
    corner.x += windows->params->stride.w;
    corner.offset += windows->step_x;
    if (corner.x == windows->end_x)
    {
        corner.x = -windows->params->padding.w;
        corner.y += windows->params->stride.h;
        corner.offset += windows->step_row;
        if (corner.y == windows->end_y)
        {
            corner.y = -windows->params->padding.h;
            corner.offset += windows->step_image;
        }
    }
    return corner;
}

static int32_t *next_columns(glue_windows_dsp *windows, int32_t *column)
{
    const glue_corner_dsp a = windows->next;
    const glue_corner_dsp b = windows->pixels > 1 ? after(windows, a) : a;
    const int32_t inside[2] = {is_inside(windows, a), is_inside(windows, b)};
    windows->next = after(windows, b);
    if (!(inside[0] & inside[1] & windows->whole))
    {
        glue_corner_dsp corners[2];
        corners[0] = a;
        corners[1] = b;
        return general_columns(windows, corners, inside, column);
    }
    windows->runs.a = windows->codes + a.offset;
    windows->runs.b = windows->codes + b.offset;
    return glue_conv_dsp_runs(&windows->runs, column);
}

int32_t glue_conv_dsp_columns(glue_windows_dsp *windows, int32_t *column)
{
    const glue_conv_dsp_params *params = windows->params;
    const int32_t pixels = windows->pixels;
    int32_t *const begin = column;
    if (windows->flat)
    {
        windows->runs.a = windows->codes;
        windows->runs.b = windows->codes + (pixels > 1 ? params->input.c : 0);
        windows->codes += 2 * params->input.c;
        column = glue_conv_dsp_runs(&windows->runs, column);
    }
    else
    {
        column = next_columns(windows, column);
    }
    windows->pixels = pixels - 2;
    for (int32_t i = 0; i < params->extra_count; i++)
    {
        const int32_t *pair = begin + 2 * params->extra[i];
        *column++ = pair[0];
        *column++ = pair[1];
    }
    return pixels > 1 ? 2 : 1;
}
