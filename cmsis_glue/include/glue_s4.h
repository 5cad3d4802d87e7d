/* Layers with int4 weights, int8 activations and int32 biases. */

#ifndef GLUE_S4_H
#define GLUE_S4_H

#include "arm_nn_types.h"
#include "glue_dsp.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

    /*
     * A convolution of NHWC codes in one group; a fully connected layer is a 1 x 1 convolution over its rows. Weights are
     * in [-8, 7] and packed two to a byte, low 4 bits first, in an order that takes few instructions to undo: 16 bits hold
     * the weights of one tap for four output channels, the first channel lowest. The first three are w + 8, so that a mask
     * gets each, or several side by side; the fourth is w in two's complement, so that the 16 bits are a signed number too.
     * Channels that are missing in the last four count as weights 0.
     */
    typedef struct
    {
        const int16_t *weights; /* [output channels / 4, rounded up][kernel.h][kernel.w][input.c] */
        const int32_t *biases;  /* [output channels]: bias - input_zero * sum of the weights */
        const int32_t *scales;  /* [output channels][2]: multiplier, shift to the left */
        cmsis_nn_dims input;
        cmsis_nn_dims output;
        cmsis_nn_tile kernel;
        cmsis_nn_tile stride;
        cmsis_nn_tile padding; /* cells before the first row and column, >= 0 */
        cmsis_nn_tile dilation;
        cmsis_nn_activation activation;
        int32_t input_zero;
        int32_t output_zero;
    } glue_conv_s4_params;

    /*
     * clamp(Requantise(sum of x * weight over the window + bias) + output_zero), where x outside the image is
     * input_zero. Outputs are written pixel by pixel.
     * scratch: a window of all channels, to which it is copied before the pixel is written. NULL: windows are one cell
     * inside the image, and are read again for every four channels.
     */
    arm_cmsis_nn_status
    glue_conv_s4(const glue_conv_s4_params *params, const int8_t *input, int8_t *output, int8_t *scratch);

    /*
     * The same for cores with the DSP extension, as glue_conv_dsp takes it; extra_count is 0. steps counts the balance
     * too: pairs at the end with weights 0 and codes that undo the 8 of all others, one for every 255 pairs before.
     * The stream has, per four channels with biases b: b0, b0 + 16 b1, b0 + 256 b2, b0 + 16 b1 + 256 b2 + 4096 b3 to
     * begin with; a word for each pair, the first tap lower; multipliers and scales as there. Sums of the second and
     * third channel have 24 bits, those of the fourth 20.
     * scratch as there, for the steps without the balance, and at least 8 * steps bytes.
     */
    typedef struct
    {
        glue_conv_dsp_params conv;
        uint16_t balance;
    } glue_conv_s4_dsp_params;

    arm_cmsis_nn_status
    glue_conv_s4_dsp(const glue_conv_s4_dsp_params *params, const int8_t *input, int8_t *output, void *scratch);

    /* In conv.single: an odd last pixel by itself. Takes a column as for two pixels. */
    void glue_conv_s4_dsp_single(const glue_tile_dsp *tile);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_S4_H */
