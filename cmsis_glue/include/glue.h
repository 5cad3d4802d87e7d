/*
 * Kernels that CMSIS-NN lacks, with its calling habits: int8 codes, const inputs, a status for every call.
 *
 * This header is the manual. It works beside cmsis_glue's arm_nnfunctions.h and beside Arm's (4.0.0 to 7.x).
 * Requantise() and the common rules are those stated in cmsis_glue's arm_nnfunctions.h. No kernel needs scratch memory;
 * none allocates, keeps state or uses floating point.
 */

#ifndef GLUE_H
#define GLUE_H

#include "arm_nnfunctions.h"
#include "glue_compact.h"
#include "glue_dsp.h"
#include "glue_mve.h"
#include "glue_rounding.h"
#include "glue_s16_dsp.h"
#include "glue_s16_mve.h"
#include "glue_s4.h"
#include "glue_s4_mve.h"
#include "glue_scalar.h"
#include "glue_table.h"
#include "glue_wide.h"

#include <stdint.h>

/* Raised whenever a model generated before the change would no longer be correct. */
#define GLUE_API_VERSION 1

/* Largest rank glue_strided_copy_s8 and glue_indexed_copy_s8 take. */
#define GLUE_MAX_RANK 8

/* Largest number of elements glue_reduce_sum_s8 and glue_lrn_s8 add up, and of one row of glue_normalize_s8. */
#define GLUE_MAX_REDUCED 33000
#define GLUE_MAX_NORMALIZED 65536

/* GLUE_REDUCE_ROOT_OF_SQUARES takes the root of sum * 2^GLUE_ROOT_SHIFT: half as many fractional bits. */
#define GLUE_ROOT_SHIFT 16

/* Fractional bits of the reciprocals of glue_broadcast_div_s8. */
#define GLUE_QUOTIENT_SHIFT 15

/* Places in the steps of glue_matmul_params after the three of the batch. */
#define GLUE_MATMUL_OUTER 3
#define GLUE_MATMUL_INNER 4

/*
 * A constant table where CMSIS-NN's structures want a pointer to non-const that is only read. Going through uintptr_t
 * keeps the table in flash and the build free of qualifier warnings; allowed in static initialisers by gcc and clang.
 */
#define GLUE_CONST_TABLE(table) ((int32_t *)(uintptr_t)(const int32_t *)(table))

#ifdef __cplusplus
extern "C"
{
#endif

    /* Parameters of glue_avgpool_s8. */
    typedef struct
    {
        int32_t input_offset;  /* -zero_point of the input, in [-127, 128] */
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        cmsis_nn_tile stride;
        cmsis_nn_tile padding;     /* cells before the first row and column, >= 0 */
        cmsis_nn_tile padding_end; /* cells after the last ones, >= 0; read only when count_include_pad is not 0 */
        cmsis_nn_activation activation;
        int32_t count_include_pad; /* 0: count cells inside the image; else: cells inside the padded image */
        int32_t table_size;        /* entries of multipliers and shifts: the largest count, or 1 = one entry for all */
        const int32_t *multipliers;
        const int32_t *shifts;
    } glue_avgpool_params;

    /* Parameters of glue_log_softmax_s8. */
    typedef struct
    {
        const uint32_t *exp_table; /* 256 entries: round(2^30 * exp(-input_scale * d)); entry 0 is 2^30 */
        int32_t diff_multiplier;   /* round(2^shift * input_scale / output_scale), >= 0 */
        int32_t log_multiplier;    /* round(2^shift * ln(2) / (2^16 * output_scale)), >= 0 */
        int32_t shift;             /* in [1, 46]; best: the largest that keeps both multipliers below 2^31 */
        int32_t output_offset;     /* zero_point of the output, in [-128, 127] */
        cmsis_nn_activation activation;
    } glue_log_softmax_params;

    /* Parameters of glue_lrn_s8. */
    typedef struct
    {
        int32_t input_offset;  /* -zero_point of the input, in [-127, 128] */
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        int32_t before;        /* channels of the window before its own, >= 0 */
        int32_t after;         /* and after it, >= 0; before + after < GLUE_MAX_REDUCED */
        int32_t base;          /* >= 1; base + (sum * multiplier >> shift) < 2^31 for every sum of squares */
        int32_t multiplier;    /* >= 0 */
        int32_t shift;         /* in [1, 62] */
        const int32_t *factors;   /* 31 entries, by the leading bit n of the power, >= 0: */
        const int32_t *shifts;    /* factor * 2^-shift = 2^(-beta * n) * scales; in [1, 62] */
        const int32_t *fractions; /* 33 entries in [0, 2^30]: round(2^30 * (1 + i / 32)^-beta) */
    } glue_lrn_params;

    /* Parameters of glue_matmul_s8. Steps are distances in codes; 0 along a broadcast axis. */
    typedef struct
    {
        int32_t a_offset; /* -zero_point, in [-127, 128] */
        int32_t b_offset;
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        int32_t multiplier;
        int32_t shift;
        cmsis_nn_activation activation;
        int32_t batch[3]; /* each >= 1 */
        int32_t rows;
        int32_t columns;
        int32_t depth;     /* <= 33000 */
        int32_t a_step[5]; /* of the three batch axes, of the rows, of the depth */
        int32_t b_step[5]; /* of the three batch axes, of the columns, of the depth */
    } glue_matmul_params;

    /* What glue_reduce_sum_s8 sums up. */
    typedef enum
    {
        GLUE_REDUCE_SUM = 0,
        GLUE_REDUCE_ABSOLUTE = 1,
        GLUE_REDUCE_SQUARES = 2,
        GLUE_REDUCE_ROOT_OF_SQUARES = 3,
    } glue_reduction;

    /* Parameters of glue_reduce_sum_s8. */
    typedef struct
    {
        int32_t input_offset;  /* -zero_point of the input, in [-127, 128] */
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        int32_t multiplier;
        int32_t shift;
        cmsis_nn_activation activation;
        glue_reduction reduction;
    } glue_reduce_params;

    /* Parameters of glue_normalize_s8. */
    typedef struct
    {
        int32_t input_offset;  /* -zero_point of the input, in [-127, 128] */
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        int32_t subtract_mean; /* 0: rows are scaled only */
        int32_t shift;         /* in [16, 46] */
        uint64_t epsilon;      /* round(epsilon * count^2 / input_scale^2), <= 2^60; count = span * depth */
        cmsis_nn_activation activation;
        int32_t table_size;  /* entries of gain and bias: 1, or groups * depth */
        const int32_t *gain; /* round(gain / output_scale * 2^(shift - 20)) */
        const int32_t *bias; /* round(bias / output_scale * 2^16) */
    } glue_normalize_params;

    /* Parameters of glue_resize_linear_s8: input [outer, height, middle, width, inner]. */
    typedef struct
    {
        int32_t outer;
        int32_t height;
        int32_t middle; /* dimensions between the two axes; 1 when channels are last */
        int32_t width;
        int32_t inner;
        int32_t output_height;
        int32_t output_width;
        const int32_t *rows;    /* output_height positions along the height */
        const int32_t *columns; /* output_width positions along the width */
    } glue_resize_linear_params;

    /*
     * Fully connected layer with one multiplier and shift per output channel; else as arm_fully_connected_s8.
     * CMSIS-NN has this function from 7.0.0 on; the declaration here serves the versions before.
     */
    arm_cmsis_nn_status arm_fully_connected_per_channel_s8(const cmsis_nn_context *ctx,
                                                           const cmsis_nn_fc_params *fc_params,
                                                           const cmsis_nn_per_channel_quant_params *quant_params,
                                                           const cmsis_nn_dims *input_dims,
                                                           const int8_t *input_data,
                                                           const cmsis_nn_dims *filter_dims,
                                                           const int8_t *filter_data,
                                                           const cmsis_nn_dims *bias_dims,
                                                           const int32_t *bias_data,
                                                           const cmsis_nn_dims *output_dims,
                                                           int8_t *output_data);

    /*
     * Loops over two operands that broadcast; the output is written in order. Cell [i_0, .., i_r] reads operand a at
     * i_0 * a_steps[0] + .. + i_r * a_steps[r], operand b likewise; a step is 0 along an axis the operand lacks. The
     * last steps are 0 or 1. Dimensions >= 1.
     */
    typedef struct glue_broadcast_dims
    {
        int32_t rank; /* entries of dims, a_steps and b_steps, in [1, GLUE_MAX_RANK] */
        const int32_t *dims;
        const int32_t *a_steps;
        const int32_t *b_steps;
    } glue_broadcast_dims;

    /* Parameters of glue_broadcast_add_s8 and glue_broadcast_sub_s8: those of arm_elementwise_add_s8. */
    typedef struct
    {
        int32_t a_offset; /* -zero_point, in [-127, 128] */
        int32_t a_multiplier;
        int32_t a_shift;
        int32_t b_offset;
        int32_t b_multiplier;
        int32_t b_shift;
        int32_t left_shift;
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        int32_t output_multiplier;
        int32_t output_shift;
        cmsis_nn_activation activation;
    } glue_sum_params;

    /* Parameters of glue_broadcast_mul_s8: those of arm_elementwise_mul_s8. */
    typedef struct
    {
        int32_t a_offset; /* -zero_point, in [-127, 128] */
        int32_t b_offset;
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        int32_t multiplier;
        int32_t shift;
        cmsis_nn_activation activation;
    } glue_product_params;

    /* Parameters of glue_broadcast_div_s8. */
    typedef struct
    {
        int32_t a_offset;      /* -zero_point of the dividend, in [-127, 128] */
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        /*
         * 256 entries, by divisor code + 128: round(2^GLUE_QUOTIENT_SHIFT * a_scale / (b_scale * output_scale *
         * (code - b_zero_point))) clamped to +-(2^23 - 1); that bound, positive or negative, for a divisor of 0.
         */
        const int32_t *reciprocals;
        cmsis_nn_activation activation;
    } glue_quotient_params;

    /* Parameters of glue_prelu_s8. */
    typedef struct
    {
        int32_t input_offset; /* -zero_point of the input, in [-127, 128] */
        int32_t slope_offset;
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        int32_t positive_multiplier;
        int32_t positive_shift;
        int32_t negative_multiplier;
        int32_t negative_shift;
    } glue_prelu_params;

    /* Parameters of glue_sum_s8. */
    typedef struct
    {
        int32_t terms; /* entries of offsets, multipliers and shifts, >= 1 */
        const int32_t *offsets;
        const int32_t *multipliers;
        const int32_t *shifts;
        int32_t left_shift;    /* in [0, 22] */
        int32_t output_offset; /* zero_point of the output, in [-128, 127] */
        int32_t output_multiplier;
        int32_t output_shift;
        cmsis_nn_activation activation;
    } glue_terms_params;

    /*
     * Any function of one variable: output[i] = table[input[i] + 128] for size codes (size >= 0), table of 256 codes.
     * The output may be the same array as the input.
     */
    arm_cmsis_nn_status glue_lookup_s8(const int8_t *input, const int8_t *table, int8_t *output, int32_t size);

    /*
     * Any regular rearrangement: transposition, slice with any step, repetition, broadcasting.
     *   output [dims[0], .., dims[rank - 1], block], written in order:
     *   output[i_0, .., i_r, b] = input[i_0 * steps[0] + .. + i_r * steps[r] + b]
     * dims and steps have rank entries, rank in [1, GLUE_MAX_RANK], dims and block >= 1; steps may be 0 or negative, then
     * input points at the cell of index 0. Input and output must not overlap.
     */
    arm_cmsis_nn_status glue_strided_copy_s8(const int8_t *input,
                                             const int32_t *dims,
                                             const int32_t *steps,
                                             int32_t rank,
                                             int32_t block,
                                             int8_t *output);

    /*
     * Any choice of indices per axis: gathering, nearest-neighbour resizing, reflection.
     *   output [dims[0], .., dims[rank - 1], block], written in order:
     *   output[i_0, .., i_r, b] = input[offset_0[i_0] + .. + offset_r[i_r] + b]
     * offsets holds the dims[0] entries of offset_0, then the dims[1] entries of offset_1, and so on; rank in
     * [1, GLUE_MAX_RANK], dims and block >= 1. Input and output must not overlap.
     */
    arm_cmsis_nn_status glue_indexed_copy_s8(const int8_t *input,
                                             const int32_t *dims,
                                             const int32_t *offsets,
                                             int32_t rank,
                                             int32_t block,
                                             int8_t *output);

    /*
     * Constant padding of four axes: output [begin.n + N + end.n, ..., begin.c + C + end.c]; pads >= 0, dimensions
     * >= 1. New cells hold the code value. Input and output must not overlap.
     */
    arm_cmsis_nn_status glue_pad_s8(const int8_t *input,
                                    const cmsis_nn_dims *input_dims,
                                    const cmsis_nn_dims *begin,
                                    const cmsis_nn_dims *end,
                                    int8_t value,
                                    int8_t *output);

    /*
     * Copies blocks of block_size codes: block b goes from input + b * input_stride to output + b * output_stride.
     * block_size, blocks and strides >= 0. One call per tensor makes a Concat, a Split or a Slice along any axis:
     * blocks = product of the dimensions before the axis, block_size = those from the axis on (of the part),
     * stride = those from the axis on (of the whole). Input and output blocks must not overlap.
     */
    arm_cmsis_nn_status glue_copy_blocks_s8(const int8_t *input,
                                            int32_t input_stride,
                                            int8_t *output,
                                            int32_t output_stride,
                                            int32_t block_size,
                                            int32_t blocks);

    /*
     * Linear interpolation along two axes, at the input's scale and zero point. For the output cell at position
     * y = rows[oy] and x = columns[ox], in units of 1/4096 cell, with
     *   y0 = y >> 12, y1 = min(y0 + 1, height - 1), v = y & 4095;  x0, x1, u likewise from x and width
     *   sum = (4096 - v) * ((4096 - u) * input[y0, x0] + u * input[y0, x1])
     *       +         v  * ((4096 - u) * input[y1, x0] + u * input[y1, x1])        exact in 32 bits
     *   output = (sum + 2^23) >> 24                                                ">>" rounds down
     * Argument error: a dimension < 1, or a position outside [0, 4096 * size). Input and output must not overlap.
     */
    arm_cmsis_nn_status
    glue_resize_linear_s8(const glue_resize_linear_params *params, const int8_t *input, int8_t *output);

    /*
     * Average over windows with an output scale of its own: AveragePool, GlobalAveragePool, ReduceMean over H and W.
     *   input [N, H, W, C], filter_dims h and w = window, output [N, OH, OW, C]
     * For a window that starts at row y0 = oy * stride.h - padding.h, column x0 = ox * stride.w - padding.w:
     *   sum   = sum of (input + input_offset) over the cells of the window inside the image
     *   count = number of those cells, or, when count_include_pad is not 0,
     *           (min(y0 + window.h, H + padding_end.h) - y0) * (min(x0 + window.w, W + padding_end.w) - x0)
     *   k     = table_size == 1 ? 0 : count - 1
     *   output = clamp(Requantise(sum, multipliers[k], shifts[k]) + output_offset)
     * multipliers[k], shifts[k] = quantize_multiplier(input_scale / (output_scale * (k + 1))), or with that of the one
     * count all windows have. Argument error: count < 1, or k >= table_size. |sum| << shift must fit in 32 bits.
     */
    arm_cmsis_nn_status glue_avgpool_s8(const glue_avgpool_params *params,
                                        const cmsis_nn_dims *input_dims,
                                        const int8_t *input,
                                        const cmsis_nn_dims *filter_dims,
                                        const cmsis_nn_dims *output_dims,
                                        int8_t *output);

    /*
     * As arm_elementwise_add_s8 with the second term subtracted; the output may be the same array as either input.
     *   t_i = Requantise((input_i + input_i_offset) << left_shift, input_i_mult, input_i_shift)
     *   output = clamp(Requantise(t_1 - t_2, out_mult, out_shift) + out_offset)
     */
    arm_cmsis_nn_status glue_elementwise_sub_s8(const int8_t *input_1_vect,
                                                const int8_t *input_2_vect,
                                                int32_t input_1_offset,
                                                int32_t input_1_mult,
                                                int32_t input_1_shift,
                                                int32_t input_2_offset,
                                                int32_t input_2_mult,
                                                int32_t input_2_shift,
                                                int32_t left_shift,
                                                int8_t *output,
                                                int32_t out_offset,
                                                int32_t out_mult,
                                                int32_t out_shift,
                                                int32_t out_activation_min,
                                                int32_t out_activation_max,
                                                int32_t block_size);

    /*
     * Sum, difference and product of two tensors that broadcast: arm_elementwise_add_s8, glue_elementwise_sub_s8 and
     * arm_elementwise_mul_s8, called row by row (with whatever version of CMSIS-NN is linked). The output may be the
     * same array as an operand that has all cells of the output.
     */
    arm_cmsis_nn_status glue_broadcast_add_s8(const glue_broadcast_dims *loops,
                                              const glue_sum_params *params,
                                              const int8_t *a,
                                              const int8_t *b,
                                              int8_t *output);

    arm_cmsis_nn_status glue_broadcast_sub_s8(const glue_broadcast_dims *loops,
                                              const glue_sum_params *params,
                                              const int8_t *a,
                                              const int8_t *b,
                                              int8_t *output);

    arm_cmsis_nn_status glue_broadcast_mul_s8(const glue_broadcast_dims *loops,
                                              const glue_product_params *params,
                                              const int8_t *a,
                                              const int8_t *b,
                                              int8_t *output);

    /*
     * Quotient of two tensors that broadcast; ">>" rounds down.
     *   quotient = ((a + a_offset) * reciprocals[b + 128] + 2^(GLUE_QUOTIENT_SHIFT - 1)) >> GLUE_QUOTIENT_SHIFT
     *   output = clamp(quotient + output_offset)
     * The output may be the same array as an operand that has all cells of the output.
     */
    arm_cmsis_nn_status glue_broadcast_div_s8(const glue_broadcast_dims *loops,
                                              const glue_quotient_params *params,
                                              const int8_t *a,
                                              const int8_t *b,
                                              int8_t *output);

    /*
     * PRelu; operand a of the loops is the input, operand b the slope. With v = input + input_offset:
     *   v >= 0: scaled = Requantise(v, positive_multiplier, positive_shift)
     *   v < 0:  scaled = Requantise(v * (slope + slope_offset), negative_multiplier, negative_shift)
     *   output = clamp(scaled + output_offset, -128, 127)
     * The output may be the same array as the input.
     */
    arm_cmsis_nn_status glue_prelu_s8(const glue_broadcast_dims *loops,
                                      const glue_prelu_params *params,
                                      const int8_t *input,
                                      const int8_t *slope,
                                      int8_t *output);

    /*
     * The larger (largest != 0) or smaller code of two arrays of size codes (size >= 0). The output may be the same
     * array as either operand.
     */
    arm_cmsis_nn_status
    glue_extreme_s8(const int8_t *a, const int8_t *b, int32_t largest, int8_t *output, int32_t size);

    /*
     * Sum of any number of arrays of size codes (size >= 0); the output may be the same array as any of them.
     *   t_i = Requantise((terms[i] + offsets[i]) << left_shift, multipliers[i], shifts[i])
     *   output = clamp(Requantise(sum of t_i, output_multiplier, output_shift) + output_offset)
     * |sum| << output_shift must fit in 32 bits.
     */
    arm_cmsis_nn_status
    glue_sum_s8(const glue_terms_params *params, const int8_t *const *terms, int8_t *output, int32_t size);

    /*
     * LogSoftmax of num_rows rows of row_size codes; the output may be the same array as the input. num_rows >= 0,
     * row_size >= 1. All arithmetic is exact on integers of 64 bits; ">>" of a negative number rounds down. Per row:
     *   d_i = max(row) - input_i                                          in [0, 255]
     *   sum = sum of exp_table[d_i]                                       >= 2^30
     *   n   = floor(log2(sum)),  m = floor(sum * 2^(31 - n))              2^31 <= m < 2^32
     *   16 times: m = m * m >> 31;  bit = m >= 2^32;  frac = 2 * frac + bit;  if bit: m = m >> 1       (frac starts at
     * 0) log = (n - 30) * 2^16 + frac                                      log2(sum / 2^30), 16 fractional bits,
     * truncated t_i = d_i * diff_multiplier + log * log_multiplier                >= 0 output_i = clamp(output_offset -
     * ((t_i + 2^(shift - 1)) >> shift))
     */
    arm_cmsis_nn_status glue_log_softmax_s8(const int8_t *input,
                                            int32_t num_rows,
                                            int32_t row_size,
                                            const glue_log_softmax_params *params,
                                            int8_t *output);

    /*
     * Local response normalisation of [pixels, channels] over windows of channels. With x_c = input_c + input_offset:
     *   sum = sum of x_k * x_k for k in [c - before, c + after] inside of [0, channels)
     *   p   = base + (sum * multiplier >> shift)                          64 bits
     *   n   = floor(log2(p)),  m = p * 2^(31 - n),  i = m >> 26 & 31,  r = m >> 10 & 0xFFFF
     *   f   = fractions[i] + ((fractions[i + 1] - fractions[i]) * r >> 16)
     *   output_c = clamp(((x_c * (f * factors[n] >> 30) + 2^(shifts[n] - 1)) >> shifts[n]) + output_offset)
     */
    arm_cmsis_nn_status glue_lrn_s8(
        const glue_lrn_params *params, const int8_t *input, int32_t pixels, int32_t channels, int8_t *output);

    /*
     * Convolution with groups: as arm_convolve_wrapper_s8, but needs no context and is there whatever version of
     * CMSIS-NN is linked. Weights [C_OUT, KH, KW, C_IN / groups]; groups = input_dims->c / filter_dims->c.
     * bias may be NULL. |sum| << shift must fit in 32 bits.
     */
    arm_cmsis_nn_status glue_group_conv_s8(const cmsis_nn_conv_params *conv_params,
                                           const cmsis_nn_per_channel_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims,
                                           const int8_t *input,
                                           const cmsis_nn_dims *filter_dims,
                                           const int8_t *filter,
                                           const int32_t *bias,
                                           const cmsis_nn_dims *output_dims,
                                           int8_t *output);

    /*
     * Transposed convolution with groups. Weights [C_OUT, KH, KW, C_IN / groups], dimensions as above; padding counts
     * the rows and columns cut off before the result and may be negative.
     *   sum(oy, ox, c) = bias[c] + sum over ky, kx, i of (input[iy, ix, g * C_IN / groups + i] + input_offset) *
     *                    filter[c, ky, kx, i],   g = the group of c,
     *                    over all taps with iy * stride.h = oy + padding.h - ky * dilation.h, 0 <= iy < H; ix likewise
     *   output = clamp(Requantise(sum, multiplier[c], shift[c]) + output_offset)
     * The output may have any height and width; what no tap meets is the bias. |sum| << shift must fit in 32 bits.
     */
    arm_cmsis_nn_status glue_transpose_conv_s8(const cmsis_nn_conv_params *conv_params,
                                               const cmsis_nn_per_channel_quant_params *quant_params,
                                               const cmsis_nn_dims *input_dims,
                                               const int8_t *input,
                                               const cmsis_nn_dims *filter_dims,
                                               const int8_t *filter,
                                               const int32_t *bias,
                                               const cmsis_nn_dims *output_dims,
                                               int8_t *output);

    /*
     * Matrix products of two activations: output [batch, rows, columns], any layout of the operands.
     *   sum(row, column) = bias[column] + sum over k of (a + a_offset) * (b + b_offset)
     *   output = clamp(Requantise(sum, multiplier, shift) + output_offset)
     * with a at the sum of index * a_step over batch, row and k, and b at that of batch, column and k. bias may be
     * NULL. |sum| << shift must fit in 32 bits. The output must not overlap an operand.
     */
    arm_cmsis_nn_status glue_matmul_s8(const glue_matmul_params *params,
                                       const int8_t *a,
                                       const int8_t *b,
                                       const int32_t *bias,
                                       int8_t *output);

    /*
     * Index, less 128, of the largest (largest != 0) or smallest code along the middle axis of [outer, reduced, inner],
     * of the first of equal ones or (last != 0) the last; output [outer, inner]. outer >= 0, reduced in [1, 256],
     * inner >= 1.
     */
    arm_cmsis_nn_status glue_arg_extreme_s8(const int8_t *input,
                                            int32_t outer,
                                            int32_t reduced,
                                            int32_t inner,
                                            int32_t largest,
                                            int32_t last,
                                            int8_t *output);

    /*
     * Largest (largest != 0) or smallest code over the middle axis of [outer, reduced, inner], clamped; output
     * [outer, inner]. outer >= 0, reduced and inner >= 1.
     */
    arm_cmsis_nn_status glue_reduce_extreme_s8(const int8_t *input,
                                               int32_t outer,
                                               int32_t reduced,
                                               int32_t inner,
                                               int32_t largest,
                                               const cmsis_nn_activation *activation,
                                               int8_t *output);

    /*
     * Sum over the middle axis of [outer, reduced, inner], with v = input + input_offset; output [outer, inner].
     *   sum = sum of v, |v| or v * v; GLUE_REDUCE_ROOT_OF_SQUARES: floor(sqrt((sum of v * v) * 2^GLUE_ROOT_SHIFT))
     *   output = clamp(Requantise(sum, multiplier, shift) + output_offset)
     * outer >= 0, 1 <= reduced <= GLUE_MAX_REDUCED, inner >= 1. |sum| << shift must fit in 32 bits.
     */
    arm_cmsis_nn_status glue_reduce_sum_s8(const glue_reduce_params *params,
                                           const int8_t *input,
                                           int32_t outer,
                                           int32_t reduced,
                                           int32_t inner,
                                           int8_t *output);

    /*
     * Normalisation to mean 0 and variance 1 (or to mean square 1, without subtract_mean), then gain and bias:
     * LayerNormalization (span 1, groups 1, depth K), GroupNormalization and InstanceNormalization (span H * W,
     * groups of depth C / groups channels), RMSNormalization, LpNormalization.
     *   input and output [outer, span, groups, depth]; a row is [span, depth] of one group, count = span * depth
     * Exact integers of 64 bits; ">>" of a negative number rounds down. v = input + input_offset. Per row:
     *   sum = subtract_mean ? sum of v : 0
     *   power = count * (sum of v * v) - sum * sum + epsilon                 (count * standard deviation)^2
     *   power = 0: normal = 0. Else:
     *     e = smallest number >= 0 with power * 4^e >= 2^60
     *     factor = floor(2^61 / floor(sqrt(power * 4^e)))
     *     normal = ((count * v - sum) * factor + 2^(40 - e)) >> (41 - e)     20 fractional bits, |normal| < 2^29
     *   t = normal * gain[c] + bias[c] * 2^(shift - 16)                      c = group * depth + place in the group
     *   output = clamp(((t + 2^(shift - 1)) >> shift) + output_offset)
     * The output may be the same array as the input. count <= GLUE_MAX_NORMALIZED.
     */
    arm_cmsis_nn_status glue_normalize_s8(const glue_normalize_params *params,
                                          const int8_t *input,
                                          int32_t outer,
                                          int32_t span,
                                          int32_t groups,
                                          int32_t depth,
                                          int8_t *output);

    /*
     * Our own form of three functions of CMSIS-NN, for the shapes on which a released version of it is wrong: these names
     * stay ours when Arm's library is linked. Arguments, result and rules are those of arm_convolve_wrapper_s8,
     * arm_depthwise_conv_wrapper_s8 and arm_softmax_s8.
     */
    arm_cmsis_nn_status glue_convolve_s8(const cmsis_nn_context *ctx,
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

    arm_cmsis_nn_status glue_depthwise_conv_s8(const cmsis_nn_context *ctx,
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

    void glue_softmax_s8(const int8_t *input,
                         const int32_t num_rows,
                         const int32_t row_size,
                         const int32_t mult,
                         const int32_t shift,
                         const int32_t diff_min,
                         int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_H */
