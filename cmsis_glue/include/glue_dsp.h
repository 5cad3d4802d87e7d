/* Kernels for cores with the DSP extension (Cortex-M4, M7, M33). */

#ifndef GLUE_DSP_H
#define GLUE_DSP_H

#include "arm_nn_types.h"
#include "glue_shapes.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

    /*
     * Convolution of NHWC codes, any kernel, stride, padding and dilation, in one group.
     * The window is taken column by column where taps lie apart (dilation.w > 1), else as a whole; its rows are runs of
     * contiguous codes. A run makes 2 * (length / 4) pairs, one more for a rest of 1 or 2 codes, two more for 3. steps
     * is the sum over all runs and extra_count, the number of pairs that come once more at the end.
     * scratch, aligned to 4 bytes: 8 * steps bytes. Where a window leaves the image, with P = 8 times the pairs of a
     * run: edge = (kernel.h - 1) * (P - 2 * length) + 3 * length + 16 rounded up to a multiple of 4, and scratch has
     * at least edge + kernel.h * 2 * length bytes, rounded up to a multiple of 4, after the start of the last column.
     * A pair in the stream is a word of channels 0 and 1 and one of 2 and 3, of 256 * odd channel + even channel. The
     * scale is -2^(32 - right shift), the multiplier 2 m - 2^32 of even channels and m of odd ones. The sum of an odd
     * channel has 24 bits, right shifts are in [1, 22].
     */
    typedef struct glue_tile_dsp glue_tile_dsp;

    typedef struct
    {
        const int32_t *stream; /* per 4 channels: 4 sums to begin with, 2 * steps words of weights, 4 multipliers and
                                  scales */
        const int32_t *extra;  /* which pairs */
        void (*single)(const glue_tile_dsp *); /* glue_conv_dsp_single: an odd last pixel by itself; or NULL */
        int32_t edge;
        glue_shape input;
        glue_shape output;
        glue_extent kernel;
        uint16_t steps;
        uint16_t extra_count;
        glue_step stride;
        glue_step padding;
        glue_step dilation;
        int8_t input_zero;
        int8_t output_zero;
        glue_bounds activation;
        uint8_t rectified; /* not 0: activation.min is output_zero, or products are rounded once, and outputs have 16 bits
                              before the clamp */
    } glue_conv_dsp_params;

    arm_cmsis_nn_status
    glue_conv_dsp(const glue_conv_dsp_params *params, const int8_t *input, int8_t *output, void *scratch);

    /* Takes a column as for two pixels. */
    void glue_conv_dsp_single(const glue_tile_dsp *tile);

    /*
     * The same with the general requantisation, and sums of any size: the pairs are taken in chunks. stream, per four
     * channels and chunk: 4 times 0, the words of weights.
     */
    typedef struct
    {
        glue_conv_dsp_params conv;
        int32_t chunk;         /* pairs of a pixel */
        const int32_t *biases; /* in place of initial sums */
        const int32_t *multipliers;
        const int32_t *shifts;
    } glue_conv_wide_dsp_params;

    arm_cmsis_nn_status
    glue_conv_wide_dsp(const glue_conv_wide_dsp_params *params, const int8_t *input, int8_t *output, void *scratch);

    /*
     * Fully connected layer, one row. Four codes make the pairs (0, 2) and (1, 3); zeros are added at the end, then
     * extra_count pairs, an even number, come once more. A step is a pair.
     * x is aligned to 4 bytes, and scratch too: 4 bytes for every two pairs that are not four codes of x; NULL for none.
     */
    typedef struct
    {
        const int32_t *stream; /* per 8 channels: 8 sums to begin with, 4 words of weights a step, 8 multipliers and
                                  scales */
        const int32_t *extra;
        int32_t depth;
        uint16_t channels;
        uint16_t extra_count;
        int8_t output_zero;
        glue_bounds activation;
    } glue_dense_dsp_params;

    arm_cmsis_nn_status
    glue_dense_dsp(const glue_dense_dsp_params *params, const int8_t *input, int8_t *output, void *scratch);

    /* The same with the general requantisation and in chunks, as glue_conv_wide_dsp. chunk is even. */
    typedef struct
    {
        glue_dense_dsp_params dense;
        int32_t chunk;
        const int32_t *biases;
        const int32_t *multipliers;
        const int32_t *shifts;
    } glue_dense_wide_dsp_params;

    arm_cmsis_nn_status
    glue_dense_wide_dsp(const glue_dense_wide_dsp_params *params, const int8_t *input, int8_t *output, void *scratch);

    /*
     * Depthwise convolution of NHWC codes. A line runs along one axis of the image, its elements along the other; which
     * axis is which is the caller's choice. Steps are distances in codes.
     */
    typedef struct
    {
        const int8_t *weights;  /* [channels][kernel_lines][kernel_elements] */
        const int32_t *factors; /* [channels][2]: bias - input_zero * sum of the weights, multiplier */
        const int8_t *forms;    /* [channels]: right shift, + GLUE_DEPTHWISE_SHORT where the short form is taken */
        int32_t image_step;
        uint16_t images;
        uint16_t channels;   /* of the output; channel c reads input channel c / multiplier */
        uint16_t multiplier; /* >= 1 */
        uint16_t lines;      /* of the input */
        uint16_t elements;   /* of an input line, as many as the outputs read */
        uint16_t line_step;
        uint16_t element_step;
        uint16_t output_lines;
        uint16_t output_elements;
        uint16_t output_line_step;
        uint16_t output_element_step;
        uint16_t band;  /* output lines computed at a time, in [1, output_lines] */
        uint16_t pitch; /* halfwords of a line in scratch memory: even, at least element_padding + elements, and
                           (output_elements - 1) * element_stride + kernel_elements + 1, + 3 by two elements */
        uint8_t kernel_lines;
        uint8_t kernel_elements;
        uint8_t line_stride;
        uint8_t element_stride;
        uint8_t line_dilation; /* the elements of a kernel lie side by side */
        uint8_t line_padding;  /* before the first line and element */
        uint8_t element_padding;
        uint8_t rectified; /* not 0: activation.min is output_zero, or products are rounded once, and short channels make use
                              of it */
        int8_t input_zero;
        int8_t output_zero;
        glue_bounds activation;
    } glue_depthwise_dsp_params;

/*
 * In forms, added to the right shift: the channel takes the short requantisation. The clamp is -128 to 127; when
 * rectified, the zero point is -128 or products are rounded once, and shifts are in [4, 10], else in [1, 31].
 */
#define GLUE_DEPTHWISE_SHORT 32

    /*
     * Any kernel; one with lines of 5 elements that moves by one or two of them; a 3 x 3 one that moves by one or two,
     * the signed forms when rectified is 0. Channel c becomes
     *   clamp(Requantise(sum over the kernel of x * weight + bias, multiplier, -shift) + output_zero)
     * where x outside the image is input_zero. Shifts that are not short are in [-7, 30].
     * scratch, aligned to 4 bytes: (band - 1) * line_stride + (kernel_lines - 1) * line_dilation + 1 lines of pitch
     * halfwords, then kernel_lines * (kernel_elements + 1) words, which the 3 x 3 ones need only for channels whose
     * requantisation is not short.
     * The output may be written over the input when multiplier is 1 and the outputs of each band but the last lie
     * before the first input code that is read later; with one band always.
     */
    arm_cmsis_nn_status
    glue_depthwise_dsp(const glue_depthwise_dsp_params *params, const int8_t *input, int8_t *output, void *scratch);
    arm_cmsis_nn_status
    glue_depthwise_5_dsp(const glue_depthwise_dsp_params *params, const int8_t *input, int8_t *output, void *scratch);
    arm_cmsis_nn_status glue_depthwise_5_stride2_dsp(const glue_depthwise_dsp_params *params,
                                                     const int8_t *input,
                                                     int8_t *output,
                                                     void *scratch);
    arm_cmsis_nn_status
    glue_depthwise_3x3_dsp(const glue_depthwise_dsp_params *params, const int8_t *input, int8_t *output, void *scratch);
    arm_cmsis_nn_status glue_depthwise_3x3_signed_dsp(const glue_depthwise_dsp_params *params,
                                                      const int8_t *input,
                                                      int8_t *output,
                                                      void *scratch);
    arm_cmsis_nn_status glue_depthwise_3x3_stride2_dsp(const glue_depthwise_dsp_params *params,
                                                       const int8_t *input,
                                                       int8_t *output,
                                                       void *scratch);
    arm_cmsis_nn_status glue_depthwise_3x3_stride2_signed_dsp(const glue_depthwise_dsp_params *params,
                                                              const int8_t *input,
                                                              int8_t *output,
                                                              void *scratch);

    /*
     * One row of outputs of a depthwise 3 x 3 convolution with steps of 1, each channel by itself. Rows [first_row,
     * first_row + rows) of the kernel are in the input; the others, and columns outside, are padding. stream, per channel:
     * weights of rows 0 and 1 as halfwords, (left, left), (middle, middle), (right, right); (left, middle) of row 2, its
     * right one, less than 2^16; sum to begin with, multiplier, constant: the short requantisation of glue_depthwise_dsp,
     * everything scaled for it. The output may lie on the first row of the input. No scratch.
     */
    typedef struct
    {
        int32_t channels;
        int32_t columns; /* of the input */
        int32_t outputs;
        int32_t padding;   /* columns before the input: 0 or 1; after it there is as much as the outputs need, 0 or 1 */
        int32_t first_row; /* 0, or 1 with 2 rows */
        int32_t rows;      /* 2 or 3 */
        int32_t input_zero;
        const int32_t *stream;
    } glue_depthwise_row_dsp_params;

    arm_cmsis_nn_status
    glue_depthwise_row_dsp(const glue_depthwise_row_dsp_params *params, const int8_t *input, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_DSP_H */
