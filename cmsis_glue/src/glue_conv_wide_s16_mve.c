#include "glue_s16_mve.h"

arm_cmsis_nn_status
glue_conv_wide_s16_mve(const glue_conv_mve_layer *layer, const int16_t *x, int16_t *y, int8_t *scratch)
{
    return glue_conv_walk_mve(
        layer, (const int8_t *)(const void *)x, (int8_t *)(void *)y, scratch, glue_rows_wide_s16_mve);
}
