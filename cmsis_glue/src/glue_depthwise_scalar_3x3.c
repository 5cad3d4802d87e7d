#include "glue_scalar.h"

#include "glue_depthwise_scalar_3x3.h"

arm_cmsis_nn_status glue_depthwise_3x3_scalar(const glue_depthwise_scalar_layer *layer, const int8_t *x, int8_t *y)
{
    glue_run_3x3(layer, x, y, glue_depthwise_scalar_lines_1, glue_depthwise_scalar_lines_2, 1);
    return ARM_CMSIS_NN_SUCCESS;
}
