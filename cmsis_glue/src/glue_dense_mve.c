/* The C form; the assembly form is in glue_dense_mve.S. */

#include "glue_mve_groups.h"

#if !GLUE_MVE_ASM

arm_cmsis_nn_status glue_dense_mve(const glue_filter_mve *filter, int32_t depth, const int8_t *x, int8_t *y)
{
    glue_mve_dense(filter, depth, x, y, glue_mve_sums);
    return ARM_CMSIS_NN_SUCCESS;
}

#endif
