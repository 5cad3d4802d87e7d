#include "glue_conv_dsp_tile.h"
#include "glue_internal.h"

#include <stdint.h>

void glue_conv_dsp_windows(glue_windows_dsp *windows, const glue_conv_dsp_params *params, const int8_t *input)
{
    const glue_shape *x = &params->input, *y = &params->output;
    const glue_step *stride = &params->stride, *dilation = &params->dilation;
    const glue_extent *kernel = &params->kernel;
    const int32_t row = x->w * x->c;
    windows->params = params;
    windows->codes = input;
    windows->pixels = y->n * y->h * y->w;
    windows->flat = kernel->w * kernel->h == 1 && x->w == y->w && x->h == y->h;
    windows->next.y = -params->padding.h;
    windows->next.x = -params->padding.w;
    windows->next.offset = windows->next.y * row + windows->next.x * x->c;
    windows->inside_x = (uint32_t)glue_max(x->w - dilation->w * (kernel->w - 1), 0);
    windows->inside_y = (uint32_t)glue_max(x->h - dilation->h * (kernel->h - 1), 0);
    windows->end_x = y->w * stride->w - params->padding.w;
    windows->end_y = y->h * stride->h - params->padding.h;
    windows->step_x = stride->w * x->c;
    windows->step_row = stride->h * row - y->w * windows->step_x;
    windows->step_image = (x->h - y->h * stride->h) * row;
    windows->whole = dilation->w == 1 || kernel->w == 1;
    windows->taps = dilation->w == 1 ? kernel->w : 1;
    windows->runs.count = kernel->h;
    windows->runs.length = windows->taps * x->c;
    windows->runs.a_gap = dilation->h * row - windows->runs.length / 4 * 4;
    windows->runs.b_gap = windows->runs.a_gap;
}
