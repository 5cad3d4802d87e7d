#include "glue_compact.h"
#include "glue_compact_products.h"
#include "glue_internal.h"

#include <stddef.h>
#include <stdint.h>

/* All channels of an output pixel; codes: its window, group by group. */
static void compute_pixel(const glue_compact_params *params, const int8_t *codes, int8_t *output)
{
    const int32_t size = params->kernel.h * params->kernel.w * params->depth;
    const int8_t *w = params->weights;
    const int32_t *bias = params->biases, *scale = params->scales;
    int8_t *const end = output + params->output.c;
    int32_t member = 0;
    while (output < end)
    {
        const int32_t sum = glue_add_products(*bias++, codes, w, size);
        const int32_t code = glue_requantize(sum, scale[0], scale[1]) + params->output_zero;
        *output++ = glue_clamp_s8(code, params->activation.min, params->activation.max);
        scale += params->scale_step;
        w += size;
        if (++member == params->per_group)
        {
            member = 0;
            codes += size;
        }
    }
}

/* Copies the window that begins at row y and column x, the channels of each group together. */
static void gather(const glue_compact_params *params, const int8_t *image, int32_t y, int32_t x, int8_t *to)
{
    const int32_t depth = params->depth, channels = params->input.c;
    const int32_t gap = (params->kernel.h * params->kernel.w - 1) * depth;
    const int32_t right = x + params->kernel.w * params->dilation.w;
    for (int32_t ky = 0; ky < params->kernel.h; ky++)
    {
        for (int32_t column = x; column < right; column += params->dilation.w)
        {
            const int32_t inside = y >= 0 && y < params->input.h && column >= 0 && column < params->input.w;
            const int8_t *from = inside ? image + (y * params->input.w + column) * channels : &params->input_zero;
            int8_t *group = to;
            for (int32_t c = 0; c < channels; c += depth)
            {
                int8_t *const group_end = group + depth;
                do
                {
                    *group++ = *from;
                    from += inside;
                } while (group != group_end);
                group += gap;
            }
            to += depth;
        }
        y += params->dilation.h;
    }
}

arm_cmsis_nn_status
glue_compact_s8(const glue_compact_params *params, const int8_t *input, int8_t *output, int8_t *scratch)
{
    const int32_t channels = params->input.c;
    for (int32_t n = 0; n < params->input.n; n++)
    {
        int32_t top = -params->padding.h;
        for (int32_t y = 0; y < params->output.h; y++)
        {
            int32_t left = -params->padding.w;
            for (int32_t x = 0; x < params->output.w; x++)
            {
                const int8_t *codes = input + (top * params->input.w + left) * channels;
                if (scratch != NULL)
                {
                    gather(params, input, top, left, scratch);
                    codes = scratch;
                }
                compute_pixel(params, codes, output);
                output += params->output.c;
                left += params->stride.w;
            }
            top += params->stride.h;
        }
        input += params->input.h * params->input.w * channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
