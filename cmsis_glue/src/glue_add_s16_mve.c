#include "glue_s16_mve.h"

#include "glue_requantize_mve.h"

#define LANES 4

arm_cmsis_nn_status
glue_add_s16_mve(const glue_sum_s16_params *params, const int16_t *a, const int16_t *b, int16_t *output, int32_t size)
{
    const glue_scale_mve second = glue_scale_of(params->b_multiplier, params->b_shift);
    const glue_scale_mve result = glue_scale_of(params->output_multiplier, params->output_shift);
    const int32_t low = params->activation.min, high = params->activation.max;
    const int32_t left = second.left + 15;
    for (; size > 0; size -= LANES)
    {
        const mve_pred16_t active = vctp32q((uint32_t)size);
        const int32x4_t first = vshlq_n_s32(vldrhq_z_s32(a, active), 14);
        const int32x4_t raised = vshlq_r_s32(vldrhq_z_s32(b, active), left);
        const int32x4_t sum = vaddq_s32(first, glue_scale_mve_right(raised, second));
        const int32x4_t code = glue_scale_mve_right(sum, result);
        vstrhq_p_s32(output, vmaxq_s32(vminq_s32(code, vdupq_n_s32(high)), vdupq_n_s32(low)), active);
        a += LANES;
        b += LANES;
        output += LANES;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
