/*
 * The CMSIS-NN functions that generated models call, implemented by cmsis_glue in portable C11.
 *
 * Same names, arguments and output bytes as CMSIS-NN 4.0.0 to 7.x, with its default (double) rounding or, where
 * GLUE_SINGLE_ROUNDING is 1, with CMSIS_NN_USE_SINGLE_ROUNDING. A model links with these files or with Arm's library;
 * this header exists for the first case and is not needed for the second.
 *
 * Common rules
 * - Tensors are int8 codes in [N, H, W, C] order; real = scale * (code - zero_point).
 * - Requantise(v, m, s): v is shifted left by max(s, 0), multiplied by m with (v * m + 2^30) >> 31, then divided by
 *   2^max(-s, 0) with halves rounded away from zero. The shifted value must fit in 32 bits. With GLUE_SINGLE_ROUNDING it
 *   is (v * m + 2^(30 - s)) >> (31 - s).
 * - Accumulators have 32 bits; the caller proves that bias + sum of products fits.
 * - Only the parameters named "padding" (begin) are given; the end padding follows from the output dimensions. Padding
 *   cells count as real zero.
 * - No scratch: every *_get_buffer_size returns 0 and ctx may be NULL or hold NULL. Bias data may be NULL (zero bias);
 *   bias_dims is not read and may be NULL.
 * - Input and output must not overlap unless a function says so. Where the output may be the same array as an input, it
 *   may also begin anywhere before it. Convolutions and pools write pixel after pixel and channel after channel, and read
 *   the window of a pixel up to its last channel: their output may begin so far before the input that it never reaches
 *   input that is still to be read.
 * - Status functions return ARM_CMSIS_NN_ARG_ERROR when dimensions contradict each other.
 */

#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include "arm_nn_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

    /*
     * Convolution, any stride, padding, dilation and number of groups.
     *   input [N, H, W, C_IN], filter [C_OUT, KH, KW, C_IN / groups], bias [C_OUT], output [N, OH, OW, C_OUT]
     * groups = input_dims->c / filter_dims->c. Groups other than 1 need CMSIS-NN 6.0.0 or later when Arm's library is
     * linked.
     */
    arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *ctx,
                                                const cmsis_nn_conv_params *conv_params,
                                                const cmsis_nn_per_channel_quant_params *quant_params,
                                                const cmsis_nn_dims *input_dims,
                                                const int8_t *input_data,
                                                const cmsis_nn_dims *filter_dims,
                                                const int8_t *filter_data,
                                                const cmsis_nn_dims *bias_dims,
                                                const int32_t *bias_data,
                                                const cmsis_nn_dims *output_dims,
                                                int8_t *output_data);

    int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *conv_params,
                                                    const cmsis_nn_dims *input_dims,
                                                    const cmsis_nn_dims *filter_dims,
                                                    const cmsis_nn_dims *output_dims);

    /*
     * Depthwise convolution, any channel multiplier, stride, padding and dilation.
     *   input [N, H, W, C_IN], filter [1, KH, KW, C_OUT], bias [C_OUT], output [N, OH, OW, C_OUT]
     * C_OUT = C_IN * ch_mult; output channel c reads input channel c / ch_mult.
     */
    arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context *ctx,
                                                      const cmsis_nn_dw_conv_params *dw_conv_params,
                                                      const cmsis_nn_per_channel_quant_params *quant_params,
                                                      const cmsis_nn_dims *input_dims,
                                                      const int8_t *input_data,
                                                      const cmsis_nn_dims *filter_dims,
                                                      const int8_t *filter_data,
                                                      const cmsis_nn_dims *bias_dims,
                                                      const int32_t *bias_data,
                                                      const cmsis_nn_dims *output_dims,
                                                      int8_t *output_data);

    int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                          const cmsis_nn_dims *input_dims,
                                                          const cmsis_nn_dims *filter_dims,
                                                          const cmsis_nn_dims *output_dims);

    /*
     * Fully connected layer, one multiplier and shift.
     *   input [N, K] (input_dims->n rows), filter [C_OUT, K] with K = filter_dims->n, output [N, C_OUT]
     * (output_dims->c)
     */
    arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *ctx,
                                               const cmsis_nn_fc_params *fc_params,
                                               const cmsis_nn_per_tensor_quant_params *quant_params,
                                               const cmsis_nn_dims *input_dims,
                                               const int8_t *input_data,
                                               const cmsis_nn_dims *filter_dims,
                                               const int8_t *filter_data,
                                               const cmsis_nn_dims *bias_dims,
                                               const int32_t *bias_data,
                                               const cmsis_nn_dims *output_dims,
                                               int8_t *output_data);

    /*
     * Element by element, over block_size codes; the output may be the same array as either input.
     *   t_i = Requantise((input_i + input_i_offset) << left_shift, input_i_mult, input_i_shift)
     *   output = clamp(Requantise(t_1 + t_2, out_mult, out_shift) + out_offset)
     */
    arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *input_1_vect,
                                               const int8_t *input_2_vect,
                                               const int32_t input_1_offset,
                                               const int32_t input_1_mult,
                                               const int32_t input_1_shift,
                                               const int32_t input_2_offset,
                                               const int32_t input_2_mult,
                                               const int32_t input_2_shift,
                                               const int32_t left_shift,
                                               int8_t *output,
                                               const int32_t out_offset,
                                               const int32_t out_mult,
                                               const int32_t out_shift,
                                               const int32_t out_activation_min,
                                               const int32_t out_activation_max,
                                               const int32_t block_size);

    /*
     * Element by element, over block_size codes; the output may be the same array as either input.
     *   output = clamp(Requantise((input_1 + input_1_offset) * (input_2 + input_2_offset), out_mult, out_shift) +
     * out_offset)
     */
    arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *input_1_vect,
                                               const int8_t *input_2_vect,
                                               const int32_t input_1_offset,
                                               const int32_t input_2_offset,
                                               int8_t *output,
                                               const int32_t out_offset,
                                               const int32_t out_mult,
                                               const int32_t out_shift,
                                               const int32_t out_activation_min,
                                               const int32_t out_activation_max,
                                               const int32_t block_size);

    /*
     * Softmax of num_rows rows of row_size codes, both at least 1; the output has scale 1/256 and zero point -128. The
     * output may be the same array as the input. With beta = 1: mult, shift = quantize_multiplier(min(input_scale *
     * 2^26, 2^31 - 1)), mult in [2^30, 2^31), shift in [0, 31] diff_min = -floor(31 * 2^26 / 2^shift) Fewer than 4096
     * elements of a row may lie near its maximum (32-bit sum).
     */
    void arm_softmax_s8(const int8_t *input,
                        const int32_t num_rows,
                        const int32_t row_size,
                        const int32_t mult,
                        const int32_t shift,
                        const int32_t diff_min,
                        int8_t *output);

    /*
     * Average over windows, input and output of the same scale and zero point.
     *   input [N, H, W, C], filter_dims h and w = window, output [N, OH, OW, C]
     * The mean of the codes inside the image, halves rounded away from (code) zero, then clamped. A window without any
     * cell inside the image is an argument error.
     */
    arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx,
                                       const cmsis_nn_pool_params *pool_params,
                                       const cmsis_nn_dims *input_dims,
                                       const int8_t *input_data,
                                       const cmsis_nn_dims *filter_dims,
                                       const cmsis_nn_dims *output_dims,
                                       int8_t *output_data);

    int32_t arm_avgpool_s8_get_buffer_size(const int dim_dst_width, const int ch_src);

    /* Maximum over windows; shapes and errors as arm_avgpool_s8. */
    arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *ctx,
                                        const cmsis_nn_pool_params *pool_params,
                                        const cmsis_nn_dims *input_dims,
                                        const int8_t *input_data,
                                        const cmsis_nn_dims *filter_dims,
                                        const cmsis_nn_dims *output_dims,
                                        int8_t *output_data);

#ifdef __cplusplus
}
#endif

#endif /* ARM_NNFUNCTIONS_H */
