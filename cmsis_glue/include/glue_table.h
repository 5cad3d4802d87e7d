/* Element-wise kernels and pools in plain C that lean on what was worked out at generation; for every core. */

#ifndef GLUE_TABLE_H
#define GLUE_TABLE_H

#include "arm_nn_types.h"
#include "glue_shapes.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

    /* Parameters of glue_add_table_s8. */
    typedef struct
    {
        int32_t factor;
        const int32_t *table; /* 256 entries, by code of the second operand + 128 */
        glue_bounds activation;
    } glue_add_table_params;

/* Right shift of glue_add_table_s8. */
#define GLUE_ADD_TABLE_SHIFT 20

    /*
     *   output[i] = clamp((a[i] * factor + table[b[i] + 128]) >> GLUE_ADD_TABLE_SHIFT)
     * for size codes (size >= 0); the sums fit in 32 bits. Any sum or difference of two operands, rounding included, when
     * the factor and the table were chosen to give its bytes for all 65,536 pairs of codes. The output may be written
     * over either operand.
     */
    arm_cmsis_nn_status glue_add_table_s8(
        const glue_add_table_params *params, const int8_t *a, const int8_t *b, int8_t *output, int32_t size);

    /* Parameters of glue_mul_short_s8. */
    typedef struct
    {
        int32_t multiplier; /* Q31 */
        int32_t constant;   /* 2^12 + 2^(shift - 1) + (zero_point of the output << shift) */
        int16_t sign;       /* -2^13: halves are rounded away from zero; 0 when the right shift is 0 */
        int8_t shift;       /* 13 + right shift of the requantisation; in [13, 22] */
        int8_t a_zero;
        int8_t b_zero;
        glue_bounds activation;
    } glue_mul_short_params;

    /* arm_elementwise_mul_s8 with one high multiplication. The output may be written over either operand. */
    arm_cmsis_nn_status glue_mul_short_s8(
        const glue_mul_short_params *params, const int8_t *a, const int8_t *b, int8_t *output, int32_t size);

    /* Parameters of glue_avgpool_words_s8 and glue_max_pool_words_s8; the average's are ignored by the maximum. */
    typedef struct
    {
        const int32_t *multipliers;
        const int32_t *shifts;
        uint16_t table_size; /* entries of multipliers and shifts: by count - 1, or 1 = one for all; 0: one scale */
        glue_shape input;
        glue_extent output;
        glue_extent window;
        glue_step stride;
        glue_step padding;
        int8_t input_zero;
        int8_t output_zero;
        glue_bounds activation;
    } glue_pool_params;

    /*
     * Averages of arm_avgpool_s8 (table_size is 0) or of glue_avgpool_s8, four channels at a time. Argument error: a
     * window outside the image. Input and output must not overlap.
     */
    arm_cmsis_nn_status glue_avgpool_words_s8(const glue_pool_params *params, const int8_t *input, int8_t *output);

    /* Maxima of arm_max_pool_s8, four channels at a time where the core can compare bytes. */
    arm_cmsis_nn_status glue_max_pool_words_s8(const glue_pool_params *params, const int8_t *input, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_TABLE_H */
