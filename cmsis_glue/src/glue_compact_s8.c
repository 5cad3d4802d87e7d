#include "glue_compact.h"
#include "glue_dsp_intrinsics.h"
#include "glue_internal.h"

#include <stdint.h>

/* sum + the sum of (x[i * step] - zero) * w[i]. */
static int32_t accumulate(int32_t sum, const int8_t *x, const int8_t *w, int32_t size, int32_t step, int32_t zero)
{
    const int8_t *const end = w + size;
#if GLUE_DSP
    if (step == 1)
    {
        const uint32_t zeros = glue_pkhbt((uint32_t)-zero, (uint32_t)-zero);
        for (; end - w >= 4; w += 4)
        {
            const uint32_t codes = glue_load32(x), weights = glue_load32(w);
            sum = glue_smlad(glue_sxtab16(zeros, codes), glue_sxtb16(weights), sum);
            sum = glue_smlad(glue_sxtab16_odd(zeros, codes), glue_sxtb16_odd(weights), sum);
            x += 4;
        }
    }
#endif
    while (w < end)
    {
        sum += (*x - zero) * *w++;
        x += step;
    }
    return sum;
}

/* All channels of the output pixel whose window begins at row top and column left. */
static int8_t *
compute_pixel(const glue_compact_params *params, const int8_t *image, int32_t top, int32_t left, int8_t *output)
{
    const int32_t channels = params->input.c, depth = params->depth;
    const int32_t step = depth == 1 ? channels : 1;
    /* Taps side by side are one run where their channels are, too. */
    const int32_t taps =
        params->dilation.w == 1 && (depth == 1 || depth == channels) ? params->kernel.w : 1;
    const int32_t *numbers = params->numbers;
    const int8_t *w = params->weights;
    int32_t member = 0;
    for (int32_t c = 0; c < params->output.c; c++)
    {
        int32_t sum = numbers[0];
        int32_t y = top;
        for (int32_t ky = 0; ky < params->kernel.h; ky++)
        {
            int32_t x = left;
            for (int32_t kx = 0; kx < params->kernel.w; kx += taps)
            {
                const int32_t begin = glue_max(-x, 0), end = glue_min(params->input.w - x, taps);
                if (begin < end && y >= 0 && y < params->input.h)
                {
                    sum = accumulate(sum,
                                     image + (y * params->input.w + x + begin) * channels,
                                     w + begin * depth,
                                     (end - begin) * depth,
                                     step,
                                     params->input_zero);
                }
                w += taps * depth;
                x += params->dilation.w;
            }
            y += params->dilation.h;
        }
        *output++ = glue_clamp_s8(glue_requantize(sum, numbers[1], numbers[2]) + params->output_zero,
                                  params->activation.min,
                                  params->activation.max);
        numbers += 3;
        if (++member == params->per_group)
        {
            member = 0;
            image += depth;
        }
    }
    return output;
}

arm_cmsis_nn_status glue_compact_s8(const glue_compact_params *params, const int8_t *input, int8_t *output)
{
    for (int32_t n = 0; n < params->input.n; n++)
    {
        int32_t top = -params->padding.h;
        for (int32_t y = 0; y < params->output.h; y++)
        {
            int32_t left = -params->padding.w;
            for (int32_t x = 0; x < params->output.w; x++)
            {
                output = compute_pixel(params, input, top, left, output);
                left += params->stride.w;
            }
            top += params->stride.h;
        }
        input += params->input.h * params->input.w * params->input.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
