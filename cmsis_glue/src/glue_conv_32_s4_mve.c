#include "glue_s4_mve.h"

arm_cmsis_nn_status
glue_conv_32_s4_mve(const glue_conv_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch)
{
    return glue_conv_walk_mve(layer, x, y, scratch, glue_rows_32_s4_mve);
}
