/*
 * Layers of int16 activations and int8 weights for cores with MVE (Cortex-M55, M85). Results are those of
 * glue_convolve_s16 and glue_depthwise_conv_s16.
 */

#ifndef GLUE_S16_MVE_H
#define GLUE_S16_MVE_H

#include "arm_nn_types.h"
#include "glue_mve.h"
#include "glue_wide.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

    /*
     * Rows of int16 codes are rows of bytes to all that moves them: pitch, depth, x_channels and the channels of the
     * filter count two for each. Steps are cut as those of int8 codes, so each has 8 codes, and the filter weights
     * [steps][channels of the group][8].
     *
     * The forms of requantisation: rectified has no left shifts and the high bound 32767; it is for low bounds >= 0, or
     * with GLUE_SINGLE_ROUNDING for right shifts of at least 1. Signed has bounds of -32768 and 32767, and right shifts of
     * at least 1 except where the multiplier is 0.
     */
    void glue_rows_s16_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y);

    /*
     * The same with sums of 64 bits: biases of 64 bits, multipliers of 15, and one table of right shifts, in [0, 45], in
     * place of those of shifts: clamp((((sum + bias) * multiplier >> right) + 1) >> 1).
     */
    void glue_rows_wide_s16_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y);

    /* Scratch as that of glue_pointwise_mve and glue_conv_mve. */
    arm_cmsis_nn_status
    glue_pointwise_s16_mve(const glue_pointwise_mve_layer *layer, const int16_t *x, int16_t *y, int8_t *scratch);
    arm_cmsis_nn_status
    glue_pointwise_wide_s16_mve(const glue_pointwise_mve_layer *layer, const int16_t *x, int16_t *y, int8_t *scratch);
    arm_cmsis_nn_status
    glue_conv_s16_mve(const glue_conv_mve_layer *layer, const int16_t *x, int16_t *y, int8_t *scratch);
    arm_cmsis_nn_status
    glue_conv_wide_s16_mve(const glue_conv_mve_layer *layer, const int16_t *x, int16_t *y, int8_t *scratch);

    /* As glue_depthwise_s8_mve; both zero points are 0 and not read. */
    arm_cmsis_nn_status glue_depthwise_s16_mve(const glue_depthwise_mve_params *layer, const int16_t *x, int16_t *y);

    /* As glue_add_s16_dsp. */
    arm_cmsis_nn_status glue_add_s16_mve(
        const glue_sum_s16_params *params, const int16_t *a, const int16_t *b, int16_t *output, int32_t size);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_S16_MVE_H */
