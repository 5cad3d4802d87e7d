/*
 * Kernels on int16 codes, and the borders between these and int8 codes. int16 codes are symmetric: zero point 0.
 *
 * Included by glue.h; Requantise() and the common rules are those stated in arm_nnfunctions.h. Arrays of int16 codes are
 * aligned to 2 bytes. Clamps lie within [-32768, 32767].
 */

#ifndef GLUE_WIDE_H
#define GLUE_WIDE_H

#include "arm_nn_types.h"

#include <stdint.h>

/* glue_broadcast_dims of glue.h, which includes this header. */
struct glue_broadcast_dims;

#ifdef __cplusplus
extern "C"
{
#endif

    /*
     * Parameters of glue_convolve_s16 and glue_depthwise_conv_s16: int8 weights with a scale per output channel.
     *
     * Of bias32 and bias64 one is given, the other is NULL. With bias32 no sum of any input leaves 32 bits:
     *   output = clamp(Requantise(sum + bias32[c], multiplier[c], shift[c]))
     * With bias64, sums of up to 48 bits, and multipliers of 15 bits (Q15: the Q31 one + 2^15 >> 16, at most 2^15 - 1):
     *   output = clamp(((((sum + bias64[c]) * multiplier[c]) >> (14 - shift[c])) + 1) >> 1)      ">>" rounds down
     * as arm_nn_requantize_s64 has it; shift in [-31, 14].
     */
    typedef struct
    {
        cmsis_nn_dims input;  /* [N, H, W, C_IN] */
        cmsis_nn_dims filter; /* convolution: [C_OUT, KH, KW, C_IN / groups]; depthwise: [1, KH, KW, C_OUT] */
        cmsis_nn_dims output; /* [N, OH, OW, C_OUT] */
        cmsis_nn_tile stride;
        cmsis_nn_tile padding;
        cmsis_nn_tile dilation;
        cmsis_nn_activation activation;
        const int8_t *weights;
        const int32_t *bias32;
        const int64_t *bias64;
        const int32_t *multiplier;
        const int32_t *shift;
    } glue_layer_s16_params;

    /* Convolution, with groups where filter.c < input.c; a fully connected layer is one of 1 x 1 over its rows. */
    arm_cmsis_nn_status glue_convolve_s16(const glue_layer_s16_params *params, const int16_t *input, int16_t *output);

    /* Depthwise convolution: output channel c reads input channel c / (C_OUT / C_IN). */
    arm_cmsis_nn_status
    glue_depthwise_conv_s16(const glue_layer_s16_params *params, const int16_t *input, int16_t *output);

    /* Parameters of glue_max_pool_s16 and glue_avgpool_s16. */
    typedef struct
    {
        cmsis_nn_dims input;  /* [N, H, W, C] */
        cmsis_nn_dims output; /* [N, OH, OW, C] */
        cmsis_nn_tile window;
        cmsis_nn_tile stride;
        cmsis_nn_tile padding;     /* cells before the first row and column, >= 0 */
        cmsis_nn_tile padding_end; /* cells after the last ones; read only when count_include_pad is not 0 */
        cmsis_nn_activation activation;
        int32_t count_include_pad; /* the rest, of averages: as glue_avgpool_params */
        int32_t table_size;
        const int32_t *multipliers;
        const int32_t *shifts;
    } glue_pool_s16_params;

    /* Maximum over the cells of every window that lie inside the image; argument error: there is none. */
    arm_cmsis_nn_status glue_max_pool_s16(const glue_pool_s16_params *params, const int16_t *input, int16_t *output);

    /* As glue_avgpool_s8; windows of at most 2^15 cells. */
    arm_cmsis_nn_status glue_avgpool_s16(const glue_pool_s16_params *params, const int16_t *input, int16_t *output);

    /* Parameters of glue_broadcast_add_s16. */
    typedef struct
    {
        int32_t a_multiplier;
        int32_t a_shift;
        int32_t b_multiplier;
        int32_t b_shift;
        int32_t sign; /* 1: sum, -1: difference */
        int32_t left_shift;
        int32_t output_multiplier;
        int32_t output_shift;
        cmsis_nn_activation activation;
    } glue_sum_s16_params;

    /*
     * Sum or difference of two tensors that broadcast, loops as for glue_broadcast_add_s8.
     *   t_a = Requantise(a << left_shift, a_multiplier, a_shift), t_b likewise; both multipliers at most 1/2
     *   output = clamp(Requantise(t_a + sign * t_b, output_multiplier, output_shift))
     * The output may be the same array as an operand that has all cells of the output.
     */
    arm_cmsis_nn_status glue_broadcast_add_s16(const struct glue_broadcast_dims *loops,
                                               const glue_sum_s16_params *params,
                                               const int16_t *a,
                                               const int16_t *b,
                                               int16_t *output);

    /* Parameters of glue_broadcast_mul_s16. */
    typedef struct
    {
        int32_t multiplier;
        int32_t shift; /* at most 0 */
        cmsis_nn_activation activation;
    } glue_product_s16_params;

    /* output = clamp(Requantise(a * b, multiplier, shift)); else as glue_broadcast_add_s16. */
    arm_cmsis_nn_status glue_broadcast_mul_s16(const struct glue_broadcast_dims *loops,
                                               const glue_product_s16_params *params,
                                               const int16_t *a,
                                               const int16_t *b,
                                               int16_t *output);

    /*
     * Any function of one variable, by tables of 513 codes with linear interpolation:
     *   between(t, k) = t[i] + (((t[i + 1] - t[i]) * (input & (2^k - 1)) + (2^k >> 1)) >> k),  i = (input >> k) + 256
     *   output = shift < 7 and -256 * 2^shift <= input < 256 * 2^shift ? between(tables + 513, shift) : between(tables, 7)
     * shift in [0, 7]; tables has 1026 codes when it is below 7. The output may be the same array as the input.
     */
    arm_cmsis_nn_status
    glue_lookup_s16(const int16_t *input, const int16_t *tables, int32_t shift, int16_t *output, int32_t size);

    /*
     * Softmax of num_rows rows of row_size codes, the exponentials as in arm_softmax_s8, at output scale 2^-15:
     *   output = min(the quotient rounded to 15 fractional bits, 32767)
     */
    arm_cmsis_nn_status glue_softmax_s16(const int16_t *input,
                                         int32_t num_rows,
                                         int32_t row_size,
                                         int32_t mult,
                                         int32_t shift,
                                         int32_t diff_min,
                                         int16_t *output);

    /*
     * The same values as codes of another type or at another scale: output = saturate(Requantise(input - input zero
     * point, multiplier, shift) + output zero point); int16 codes have none. size >= 0. The output may be the same array
     * as the input or begin before it; of glue_requantize_s8_s16 only size bytes or more before it.
     */
    arm_cmsis_nn_status glue_requantize_s16_s8(const int16_t *input,
                                               int32_t multiplier,
                                               int32_t shift,
                                               int32_t output_offset,
                                               int8_t *output,
                                               int32_t size);

    arm_cmsis_nn_status glue_requantize_s8_s16(const int8_t *input,
                                               int32_t input_offset,
                                               int32_t multiplier,
                                               int32_t shift,
                                               int16_t *output,
                                               int32_t size);

    arm_cmsis_nn_status
    glue_requantize_s16(const int16_t *input, int32_t multiplier, int32_t shift, int16_t *output, int32_t size);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_WIDE_H */
