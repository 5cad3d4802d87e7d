/* Layers with int4 weights for cores with MVE (Cortex-M55, M85). Results are those of glue_conv_s4. */

#ifndef GLUE_S4_MVE_H
#define GLUE_S4_MVE_H

#include "arm_nn_types.h"
#include "glue_mve.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

    /*
     * As glue_rows_mve. Weights are in [-7, 7]. Each byte of the stream holds those of two channels for one tap,
     * w = w0 + 16 w1, a signed number: weights [steps][pairs of channels][16]. The products with it and with w << 4,
     * which is 16 w0, have sums from which those of both channels follow; no weight is separated by itself. In place of
     * biases there is what these sums begin with, modulo 2^32: 16 b0, b0 + 16 b1 for every pair. All sums with their
     * biases are in [-2^27, 2^27).
     */
    void glue_rows_s4_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y);

    /* As glue_rows_32_mve, with weights [steps][16] of such bytes; biases are as there, and sums as large as there. */
    void glue_rows_32_s4_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y);

    /*
     * As the functions for int8 weights, with such a stream; filter.single is NULL. glue_conv_3x3_s4_mve takes weights
     * [steps][kernel rows][kernel columns][16], and sums to begin with four times each.
     */
    arm_cmsis_nn_status
    glue_pointwise_s4_mve(const glue_pointwise_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    arm_cmsis_nn_status
    glue_pointwise_32_s4_mve(const glue_pointwise_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    arm_cmsis_nn_status
    glue_conv_32_s4_mve(const glue_conv_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    arm_cmsis_nn_status glue_conv_s4_mve(const glue_conv_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    arm_cmsis_nn_status
    glue_conv_3x3_s4_mve(const glue_conv_3x3_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    arm_cmsis_nn_status glue_dense_s4_mve(const glue_filter_mve *filter, int32_t depth, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_S4_MVE_H */
