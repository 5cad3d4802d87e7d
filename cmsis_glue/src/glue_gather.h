/* What convolutions in gather form share: every output sums the taps that meet cells of its input. */

#ifndef GLUE_GATHER_H
#define GLUE_GATHER_H

#include "arm_nn_types.h"
#include "glue_internal.h"

#include <stddef.h>
#include <stdint.h>

/* Along one axis: tap + k * tap_step of the window meets cell + k * cell_step of the input, 0 <= k < count. */
typedef struct
{
    int32_t count;
    int32_t tap;
    int32_t tap_step;
    int32_t cell;
    int32_t cell_step;
} glue_line;

/* The constant side of a layer. */
typedef struct
{
    const cmsis_nn_conv_params *params;
    const cmsis_nn_per_channel_quant_params *quant;
    const cmsis_nn_dims *input_dims;
    const cmsis_nn_dims *filter_dims; /* C_OUT, KH, KW, C_IN / groups */
    const int8_t *filter;
    const int32_t *bias; /* NULL: all 0 */
} glue_gather_layer;

/* True when the dimensions of a layer with groups agree. */
static inline int glue_gather_valid(const glue_gather_layer *layer, const cmsis_nn_dims *output_dims)
{
    const cmsis_nn_dims *x = layer->input_dims;
    const cmsis_nn_conv_params *p = layer->params;
    return glue_dims_valid(x, output_dims) && layer->filter_dims->c >= 1 && x->c % layer->filter_dims->c == 0 &&
           output_dims->c % (x->c / layer->filter_dims->c) == 0 && p->stride.h >= 1 && p->stride.w >= 1 &&
           p->dilation.h >= 1 && p->dilation.w >= 1;
}

/* Sum of one output channel over all taps; input is the image, moved to the first channel of the group. */
static inline int32_t glue_gather_sum(const glue_gather_layer *layer,
                                      const glue_line *rows,
                                      const glue_line *columns,
                                      const int8_t *input,
                                      const int8_t *filter)
{
    const int32_t depth = layer->filter_dims->c;
    const int32_t pixel = layer->input_dims->c;
    int32_t sum = 0;
    for (int32_t i = 0; i < rows->count; i++)
    {
        const int32_t cell_row = (rows->cell + i * rows->cell_step) * layer->input_dims->w + columns->cell;
        const int32_t tap_row = (rows->tap + i * rows->tap_step) * layer->filter_dims->w + columns->tap;
        for (int32_t j = 0; j < columns->count; j++)
        {
            sum += glue_dot(input + (cell_row + j * columns->cell_step) * pixel,
                            filter + (tap_row + j * columns->tap_step) * depth,
                            layer->params->input_offset,
                            depth);
        }
    }
    return sum;
}

/* All channels of one output pixel; returns the place after it. */
static inline int8_t *glue_gather_pixel(const glue_gather_layer *layer,
                                        const glue_line *rows,
                                        const glue_line *columns,
                                        const int8_t *input,
                                        int32_t channels,
                                        int8_t *output)
{
    const int32_t depth = layer->filter_dims->c;
    const int32_t per_group = channels / (layer->input_dims->c / depth);
    const int32_t size = layer->filter_dims->h * layer->filter_dims->w * depth;
    for (int32_t c = 0; c < channels; c++)
    {
        const int32_t sum =
            glue_gather_sum(layer, rows, columns, input + c / per_group * depth, layer->filter + c * size) +
            (layer->bias != NULL ? layer->bias[c] : 0);
        output[c] = glue_clamp_s8(glue_requantize(sum, layer->quant->multiplier[c], layer->quant->shift[c]) +
                                      layer->params->output_offset,
                                  layer->params->activation.min,
                                  layer->params->activation.max);
    }
    return output + channels;
}

#endif /* GLUE_GATHER_H */
