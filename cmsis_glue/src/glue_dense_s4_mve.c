/* The C form; the assembly form is in glue_dense_s4_mve.S. */

#include "glue_s4_mve.h"

#include "glue_mve_groups.h"
#include "glue_mve_lanes_s4.h"

#if !GLUE_MVE_ASM

arm_cmsis_nn_status glue_dense_s4_mve(const glue_filter_mve *filter, int32_t depth, const int8_t *x, int8_t *y)
{
    glue_mve_dense(filter, depth, x, y, glue_sums_s4_mve);
    return ARM_CMSIS_NN_SUCCESS;
}

#endif
