#include "glue_conv_s4_products.h"
#include "glue_dsp_intrinsics.h"
#include "glue_internal.h"
#include "glue_s4.h"

#include <stddef.h>
#include <stdint.h>

/* All channels of an output pixel; codes: its window. */
static void compute_pixel(const glue_conv_s4_params *params, const int8_t *codes, int8_t *output)
{
    const int32_t size = params->kernel.h * params->kernel.w * params->input.c;
    const int16_t *w = params->weights;
    const int32_t *bias = params->biases, *scale = params->scales;
    int32_t excess = 0;
    for (int32_t i = 0; i < size; i++)
    {
        excess += 8 * codes[i];
    }
    for (int32_t left = params->output.c; left > 0; left -= 4)
    {
        int32_t sums[4] = {-excess, -excess, -excess, 0};
        for (int32_t i = 0; i < size; i += GLUE_S4_TAPS)
        {
            glue_add_products_s4(sums, codes + i, w + i, glue_min(size - i, GLUE_S4_TAPS));
        }
        w += size;
        for (int32_t i = 0; i < glue_min(left, 4); i++)
        {
            const int32_t sum = glue_add_modulo(sums[i], *bias++);
            const int32_t code = glue_requantize(sum, scale[0], scale[1]) + params->output_zero;
            *output++ = glue_clamp_s8(code, params->activation.min, params->activation.max);
            scale += 2;
        }
    }
}

/* Copies the window that begins at row y and column x. */
static void gather(const glue_conv_s4_params *params, const int8_t *image, int32_t y, int32_t x, int8_t *to)
{
    const int8_t zero = (int8_t)params->input_zero;
    const int32_t channels = params->input.c;
    const int32_t right = x + params->kernel.w * params->dilation.w;
    for (int32_t ky = 0; ky < params->kernel.h; ky++)
    {
        for (int32_t column = x; column < right; column += params->dilation.w)
        {
            const int32_t inside = y >= 0 && y < params->input.h && column >= 0 && column < params->input.w;
            const int8_t *from = inside ? image + (y * params->input.w + column) * channels : &zero;
            int8_t *const end = to + channels;
            do
            {
                *to++ = *from;
                from += inside;
            } while (to != end);
        }
        y += params->dilation.h;
    }
}

arm_cmsis_nn_status
glue_conv_s4(const glue_conv_s4_params *params, const int8_t *input, int8_t *output, int8_t *scratch)
{
    const int32_t channels = params->input.c;
    if (!glue_dims_valid(&params->input, &params->output))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < params->input.n; n++)
    {
        for (int32_t y = 0; y < params->output.h; y++)
        {
            const int32_t top = y * params->stride.h - params->padding.h;
            for (int32_t x = 0; x < params->output.w; x++)
            {
                const int32_t left = x * params->stride.w - params->padding.w;
                const int8_t *codes = scratch;
                if (scratch != NULL)
                {
                    gather(params, input, top, left, scratch);
                }
                else
                {
                    codes = input + (top * params->input.w + left) * channels;
                }
                compute_pixel(params, codes, output);
                output += params->output.c;
            }
        }
        input += params->input.h * params->input.w * channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
