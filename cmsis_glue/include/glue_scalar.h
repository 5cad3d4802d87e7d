/*
 * Kernels for cores without SIMD (Cortex-M0, M0+, M3).
 *
 * Weights, biases and requantisation parameters of four (convolution) or eight (fully connected) output channels lie
 * together in one stream of words that is read once from front to back, little-endian:
 *
 *   bias[channels]              folded: the input's zero point is contained
 *   codes[depth][channels]      int8 weights, one byte each
 *   numbers[channels][4]        what the epilogue needs, see glue_scalar_epilogue
 *
 * Where the number of output channels is not a multiple, the last of them have a stream of their own (tail) that repeats
 * some channels; with fewer channels than one stream holds, that stream is filled up with zeros.
 */

#ifndef GLUE_SCALAR_H
#define GLUE_SCALAR_H

#include "arm_nn_types.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

    /*
     * How sums become codes; P = sum * numbers[0], C = numbers[2] * 2^32 + numbers[1] (as unsigned).
     *
     * RECTIFIED: (P + C) >> (32 + numbers[3]), saturated. Halves go up: the lowest code is the zero point, so that it
     * does not matter, or products are rounded once (GLUE_SINGLE_ROUNDING).
     * SIGNED: (2 P + C - (sum < 0 ? 2^32 : 0)) >> (32 + numbers[3]), saturated. Halves go away from zero.
     * GENERAL: Requantise(sum, numbers[0], numbers[1]) + zero point, clamped; any shift, any bounds.
     */
    typedef enum
    {
        GLUE_SCALAR_RECTIFIED = 0,
        GLUE_SCALAR_SIGNED = 1,
        GLUE_SCALAR_GENERAL = 2
    } glue_scalar_epilogue;

    /* A matrix product with constant weights. */
    typedef struct
    {
        const int32_t *groups; /* streams of whole groups of channels */
        const int32_t *tail;   /* stream of the last channels; NULL when there are only whole groups */
        int32_t group_count;   /* >= 0 */
        int32_t depth;         /* products per sum, >= 1 */
        int32_t channels;      /* >= 1 */
        int32_t epilogue;      /* glue_scalar_epilogue */
        int32_t zero_point;    /* of the output */
        cmsis_nn_activation activation;
    } glue_scalar_product;

    typedef struct glue_tile_scalar_run glue_tile_scalar_run;

    /* A convolution over one sample. Distances of taps and steps in pixels. */
    typedef struct
    {
        glue_scalar_product product; /* depth: kernel height * width * channels */
        cmsis_nn_tile input;
        cmsis_nn_tile output;
        cmsis_nn_tile kernel;
        cmsis_nn_tile stride;
        cmsis_nn_tile padding; /* before the first row and column */
        cmsis_nn_tile dilation;
        int32_t channels;   /* of the input */
        int32_t zero_point; /* of the input */
        int32_t columns;    /* windows gathered at a time, even; 0: every window is one run of codes inside the image */
        void (*single)(const glue_tile_scalar_run *run); /* glue_conv_scalar_single: an odd last pixel by itself; or NULL */
    } glue_conv_scalar_layer;

    /*
     * Convolution. `scratch`: 4-byte aligned, columns * (depth rounded up to a multiple of 4) bytes; NULL for none.
     * y may lie over codes of x that no window needs any more: gathered windows are read before any of their outputs is
     * written; else two pixels are read again for every group of channels, and sixteen when there is a tail.
     */
    arm_cmsis_nn_status
    glue_conv_scalar(const glue_conv_scalar_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    void glue_conv_scalar_single(const glue_tile_scalar_run *run);

    /* Fully connected layer on one row of `depth` codes. x and y must not overlap. */
    arm_cmsis_nn_status glue_dense_scalar(const glue_scalar_product *layer, const int8_t *x, int8_t *y);

    /*
     * A depthwise convolution over one sample; every input channel gives `multiplier` output channels.
     *
     * Stream of an output channel: folded bias, bias, numbers[4], weight codes in row-major order filled up to words.
     */
    typedef struct
    {
        const int32_t *streams;
        cmsis_nn_tile input;
        cmsis_nn_tile output;
        cmsis_nn_tile kernel;
        cmsis_nn_tile stride;
        cmsis_nn_tile padding; /* before the first row and column */
        cmsis_nn_tile dilation;
        int32_t channels;         /* of the input */
        int32_t multiplier;       /* output channels per input channel */
        int32_t upright;          /* of the 3x3 kernels: lines are columns of the image, weights column-major */
        int32_t epilogue;         /* glue_scalar_epilogue */
        int32_t input_zero_point;
        int32_t output_zero_point;
        cmsis_nn_activation activation;
    } glue_depthwise_scalar_layer;

    /*
     * Depthwise convolution of any geometry, pixel by pixel and channel by channel: y may lie over codes of x that no
     * window of the channel needs any more.
     */
    arm_cmsis_nn_status glue_depthwise_scalar(const glue_depthwise_scalar_layer *layer, const int8_t *x, int8_t *y);

    /*
     * The same for 3x3 kernels without dilation, multiplier 1, strides 1 or 2 (both alike), at most one cell of padding
     * on each side, images of at least 3x3, and an epilogue other than GENERAL. Upright lines with stride 1 need an
     * output as wide as the input. y may be x for strides of 2 unless lines are upright; else they must not overlap.
     */
    arm_cmsis_nn_status
    glue_depthwise_3x3_scalar(const glue_depthwise_scalar_layer *layer, const int8_t *x, int8_t *y);

    /*
     * The same for one row of outputs of a 3x3 kernel with strides of 1, without dilation, multiplier 1, at most one column
     * of padding on each side, three rows of input, or two and one of padding, three columns or more, the epilogue
     * RECTIFIED. y may lie on the first row of x.
     */
    arm_cmsis_nn_status
    glue_depthwise_row_scalar(const glue_depthwise_scalar_layer *layer, const int8_t *x, int8_t *y);

    /*
     * The same for Armv6-M (Cortex-M0, M0+), which has no long multiplication. The streams differ:
     *
     * Convolution, two channels: first values of four sums (bias + offsets, and the same for the second pixel's half),
     * weights [depth / 2][channel][2] with a zero at the end of an odd depth, numbers[2][4].
     * Fully connected, eight channels: bias[8], weights + 128 [depth][channels], numbers[8][4].
     * Numbers (GENERAL as above); half = 2^(right shift - 1):
     *   RECTIFIED, right shifts up to 8: {multiplier, largest sum that does not saturate, (1 + 2^right shift) * 2^15,
     *     right shift + 16}; above: {multiplier, not used, half + zero point * 2^right shift, right shift + 16} and sums
     *     below 2^24.
     *   SIGNED, |sums| below 2^23: {multiplier >> 16, multiplier & 0xFFFF, half, right shift}.
     * Rounded once, 2^right shift * 2^15 is the third number of the first; the lowest code is the zero point there.
     *
     * `scratch` of the convolution: depth rounded up to an even number of words, and `columns` codes for one pixel of
     * padding (0 where none is needed).
     */
    arm_cmsis_nn_status
    glue_conv_baseline(const glue_conv_scalar_layer *layer, const int8_t *x, int8_t *y, int32_t *scratch);
    arm_cmsis_nn_status glue_dense_baseline(const glue_scalar_product *layer, const int8_t *x, int8_t *y);
    arm_cmsis_nn_status glue_depthwise_baseline(const glue_depthwise_scalar_layer *layer, const int8_t *x, int8_t *y);
    arm_cmsis_nn_status
    glue_depthwise_3x3_baseline(const glue_depthwise_scalar_layer *layer, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_SCALAR_H */
