/* The C form; the assembly form is in glue_conv_3x3_mve.S. */

#include "glue_mve_columns.h"

#if !GLUE_MVE_ASM

arm_cmsis_nn_status
glue_conv_3x3_mve(const glue_conv_3x3_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch)
{
    return glue_columns_mve(layer, x, y, scratch, 8);
}

#endif
