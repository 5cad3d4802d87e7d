/*
 * Layers of int16 activations and int8 weights for cores with the DSP extension (Cortex-M4, M7, M33).
 *
 * Results are those of glue_convolve_s16 and glue_depthwise_conv_s16. Codes are aligned to 2 bytes, loads of words from
 * them to no more.
 */

#ifndef GLUE_S16_DSP_H
#define GLUE_S16_DSP_H

#include "arm_nn_types.h"
#include "glue_wide.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

    /*
     * Convolution in one group; a fully connected layer is one of 1 x 1 over its rows.
     *
     * The codes of a window are taken in runs: its rows, or its taps where dilation.w > 1. A run makes pairs of
     * neighbouring codes, with 0 after an odd last one; steps is the number of pairs of a window. A pair in the stream is
     * a word of channels 0 and 1, in bytes w0[0] w1[0] w0[1] w1[1], and one of channels 2 and 3. Of the layer, weights is
     * not read.
     * scratch, aligned to 4 bytes: 8 * steps bytes.
     *
     * With bias32, and right shifts in [1, 31]. The multiplier is 2 m - 2^32, the scale -2^(32 - right shift); bias32,
     * multiplier and shift of the layer are not read. stream, per 4 channels: 4 biases, 2 * steps words of weights, 4
     * multipliers and scales in turn.
     */
    typedef struct
    {
        glue_layer_s16_params layer;
        const int32_t *stream;
        int32_t steps;
        int32_t chunk; /* pairs of a chunk; read by glue_conv_wide_s16_dsp only */
    } glue_conv_s16_dsp_params;

    arm_cmsis_nn_status
    glue_conv_s16_dsp(const glue_conv_s16_dsp_params *params, const int16_t *input, int16_t *output, void *scratch);

    /*
     * The same for every layer, in the general requantisation: pairs are taken in chunks, whose sums fit 32 bits. stream,
     * per 4 channels and chunk: 4 times 0, the words of weights.
     */
    arm_cmsis_nn_status
    glue_conv_wide_s16_dsp(const glue_conv_s16_dsp_params *params, const int16_t *input, int16_t *output, void *scratch);

    /*
     * Depthwise convolution with one output channel for each input channel, bias32, and right shifts in [1, 31]; of the
     * layer, bias32, multiplier and shift are not read. factors, per channel: bias, and multiplier and scale as above.
     */
    typedef struct
    {
        glue_layer_s16_params layer;
        const int32_t *factors;
        int32_t down; /* not 0: lines are columns of the image */
    } glue_depthwise_s16_dsp_params;

    arm_cmsis_nn_status
    glue_depthwise_s16_dsp(const glue_depthwise_s16_dsp_params *params, const int16_t *input, int16_t *output);

    /*
     * The same for a kernel of 3 x 3, strides and dilations of 1, at most one cell of padding on each side, and two cells
     * with the padding before at least. Channels come one after the other, in lines: rows of the image or, where down is
     * not 0, columns. factors, per channel, rows and columns as lines have them: weights of rows 0 and 1 as halfwords,
     * left, middle, right; left and middle of row 2, its right one; then bias, multiplier and scale. weights of the layer
     * is not read.
     * scratch, aligned to 2 bytes: the codes of a line of one channel. The output may lie on an input of its shape.
     */
    arm_cmsis_nn_status glue_depthwise_3x3_s16_dsp(const glue_depthwise_s16_dsp_params *params,
                                                   const int16_t *input,
                                                   int16_t *output,
                                                   void *scratch);

    /*
     * Sum of two tensors of one shape, as glue_broadcast_add_s16 with a sign of 1 and left_shift 15: the multiplier of a
     * is 1/2 (2^30, 0), that of b too or b_shift in [-31, -1]; output_shift in [-31, -1]. The output may lie on a or b.
     */
    arm_cmsis_nn_status glue_add_s16_dsp(
        const glue_sum_s16_params *params, const int16_t *a, const int16_t *b, int16_t *output, int32_t size);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_S16_DSP_H */
