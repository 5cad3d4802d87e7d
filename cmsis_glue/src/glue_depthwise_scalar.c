#include "glue_scalar.h"

#include "glue_depthwise_scalar_any.h"

arm_cmsis_nn_status glue_depthwise_scalar(const glue_depthwise_scalar_layer *layer, const int8_t *x, int8_t *y)
{
    glue_run_depthwise(layer, x, y, glue_output_scalar);
    return ARM_CMSIS_NN_SUCCESS;
}
