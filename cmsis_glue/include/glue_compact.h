/* One small kernel for every layer of sums; for every core. */

#ifndef GLUE_COMPACT_H
#define GLUE_COMPACT_H

#include "arm_nn_types.h"
#include "glue_shapes.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

    /*
     * A convolution of NHWC codes in groups. With one group it is the usual one, with depth 1 a depthwise one; a fully
     * connected layer is a 1 x 1 convolution over its rows.
     */
    typedef struct
    {
        const int8_t *weights;  /* [output channels][kernel.h][kernel.w][depth] */
        const int32_t *biases;  /* bias - input_zero * sum of the weights */
        const int32_t *scales;  /* multiplier and shift to the left, of each output channel or of all */
        glue_shape input;
        glue_shape output;
        glue_extent kernel;
        uint16_t depth;     /* input channels of a group */
        uint16_t per_group; /* output channels of a group */
        glue_step stride;
        glue_step padding;
        glue_step dilation;
        int8_t input_zero;
        int8_t output_zero;
        glue_bounds activation;
        uint8_t scale_step; /* from the scale of one output channel to the next one: 2 or 0 */
    } glue_compact_params;

    /*
     * clamp(Requantise(sum of x * weight over the window + bias) + output_zero), where x outside the image is
     * input_zero. Outputs are written pixel by pixel.
     * scratch: a window of all channels, to which it is copied before the pixel is written. NULL: windows are one cell
     * inside the image, in one group, and are read again for every channel.
     */
    arm_cmsis_nn_status
    glue_compact_s8(const glue_compact_params *params, const int8_t *input, int8_t *output, int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_COMPACT_H */
