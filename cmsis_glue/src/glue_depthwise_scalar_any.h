/* Depthwise convolutions of any geometry for cores without SIMD. Not for generated code. */

#ifndef GLUE_DEPTHWISE_SCALAR_ANY_H
#define GLUE_DEPTHWISE_SCALAR_ANY_H

#include "glue_depthwise_scalar_line.h"
#include "glue_scalar_internal.h"

/* Makes a code of a sum. */
typedef int8_t (*glue_output_function)(
    int32_t sum, const int32_t *numbers, int32_t epilogue, int32_t zero_point, cmsis_nn_activation activation);

static inline void
glue_run_depthwise(const glue_depthwise_scalar_layer *layer, const int8_t *x, int8_t *y, glue_output_function output)
{
    const int32_t taps = layer->kernel.h * layer->kernel.w;
    const int32_t words = DEPTHWISE_CODES + (taps + 3) / 4;
    const int32_t across = layer->dilation.w * layer->channels;
    for (int32_t oy = 0; oy < layer->output.h; oy++)
    {
        const int32_t top = oy * layer->stride.h - layer->padding.h;
        const glue_span rows = glue_taps_inside(top, layer->dilation.h, layer->kernel.h, layer->input.h);
        for (int32_t ox = 0; ox < layer->output.w; ox++)
        {
            const int32_t left = ox * layer->stride.w - layer->padding.w;
            const glue_span columns = glue_taps_inside(left, layer->dilation.w, layer->kernel.w, layer->input.w);
            const int32_t whole =
                rows.end - rows.begin == layer->kernel.h && columns.end - columns.begin == layer->kernel.w;
            const int32_t offset = whole ? 0 : -layer->input_zero_point;
            const int32_t *stream = layer->streams;
            for (int32_t c = 0; c < layer->channels; c++)
            {
                for (int32_t m = 0; m < layer->multiplier; m++)
                {
                    const int8_t *const codes = (const int8_t *)(stream + DEPTHWISE_CODES);
                    int32_t sum = stream[whole ? 0 : 1];
                    for (int32_t ky = rows.begin; ky < rows.end; ky++)
                    {
                        const int8_t *w = codes + ky * layer->kernel.w + columns.begin;
                        const int8_t *from = x +
                                             ((top + ky * layer->dilation.h) * layer->input.w + left +
                                              columns.begin * layer->dilation.w) *
                                                 layer->channels +
                                             c;
                        for (int32_t kx = columns.begin; kx < columns.end; kx++)
                        {
                            sum += (*from + offset) * *w++;
                            from += across;
                        }
                    }
                    *y++ = output(
                        sum, stream + 2, layer->epilogue, layer->output_zero_point, layer->activation);
                    stream += words;
                }
            }
        }
    }
}

#endif /* GLUE_DEPTHWISE_SCALAR_ANY_H */
