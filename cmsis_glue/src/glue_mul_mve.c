#include "glue_mve.h"

#include "glue_requantize_mve.h"

#define LANES 8

/* Eight codes from eight centred pairs. */
static inline int16x8_t
multiply_block(const glue_mul_mve_params *p, int16x8_t a, int16x8_t b, glue_scale_mve scale, int shifts_left)
{
    const int16x8_t first = vsubq_n_s16(a, (int16_t)p->a_zero_point);
    const int16x8_t second = vsubq_n_s16(b, (int16_t)p->b_zero_point);
    int32x4_t even = vmullbq_int_s16(first, second);
    int32x4_t odd = vmulltq_int_s16(first, second);
    if (shifts_left)
    {
        even = vqshlq_r_s32(even, scale.left);
        odd = vqshlq_r_s32(odd, scale.left);
    }
    return glue_narrow_mve(glue_scale_mve_right(even, scale),
                           glue_scale_mve_right(odd, scale),
                           p->output_zero_point,
                           p->activation.min,
                           p->activation.max);
}

static void multiply_row(const glue_mul_mve_params *mul, const int8_t *a, const int8_t *b, int8_t *y)
{
    const glue_mul_mve_params p = *mul; /* stores of codes cannot change a copy: it stays in registers */
    const glue_scale_mve scale = glue_scale_of(p.multiplier, p.shift);
    int32_t left = p.dims.size;
    if (scale.left == 0)
    {
        for (int32_t blocks = left / LANES; blocks > 0; blocks--)
        {
            vstrbq_s16(y, multiply_block(&p, vldrbq_s16(a), vldrbq_s16(b), scale, 0));
            a += LANES;
            b += LANES;
            y += LANES;
        }
        left %= LANES;
    }
    for (; left > 0; left -= LANES)
    {
        const mve_pred16_t active = vctp16q((uint32_t)left);
        const int16x8_t first = vldrbq_z_s16(a, active);
        vstrbq_p_s16(y, multiply_block(&p, first, vldrbq_z_s16(b, active), scale, 1), active);
        a += LANES;
        b += LANES;
        y += LANES;
    }
}

arm_cmsis_nn_status glue_mul_s8_mve(const glue_mul_mve_params *mul, const int8_t *a, const int8_t *b, int8_t *y)
{
    for (int32_t row = 0; row < mul->dims.rows; row++)
    {
        multiply_row(mul, a, b, y);
        a += mul->dims.a_step;
        b += mul->dims.b_step;
        y += mul->dims.size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
