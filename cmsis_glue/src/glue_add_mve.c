#include "glue_mve.h"

#include "glue_requantize_mve.h"

#define LANES 8
#define UNIT_SHIFT 19 /* the sum has 19 more bits than the codes of a: 20, and a multiplier of 1/2 */

/* Accumulators of eight elements: those with even indices, those with odd ones. */
typedef struct
{
    int32x4_t even;
    int32x4_t odd;
} lane_sums;

/* (b - zero point) * 2^20: 16 in 16-bit lanes, the rest when they are widened. */
static inline lane_sums raise_b(const glue_add_mve_params *add, int16x8_t b)
{
    const int16x8_t centred = vmlasq_n_s16(b, vdupq_n_s16(16), (int16_t)(-16 * add->b_zero_point));
    const lane_sums raised = {vshllbq_n_s16(centred, 16), vshlltq_n_s16(centred, 16)};
    return raised;
}

/* Adds a, whose multiplier is 1/2: exact. */
static inline lane_sums add_a(const glue_add_mve_params *add, int16x8_t a, lane_sums sums)
{
    const int16x8_t centred = vsubq_n_s16(a, (int16_t)add->a_zero_point);
    sums.even = vmlaq_n_s32(sums.even, vmovlbq_s16(centred), INT32_C(1) << UNIT_SHIFT);
    sums.odd = vmlaq_n_s32(sums.odd, vmovltq_s16(centred), INT32_C(1) << UNIT_SHIFT);
    return sums;
}

/* Any parameters. */
static void add_any(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y, int32_t size)
{
    const glue_add_mve_params p = *add; /* stores of codes cannot change a copy: it stays in registers */
    const glue_scale_mve b_scale = glue_scale_of(p.b_multiplier, p.b_shift);
    const glue_scale_mve scale = glue_scale_of(p.multiplier, p.shift);
    for (; size > 0; size -= LANES)
    {
        const mve_pred16_t active = vctp16q((uint32_t)size);
        lane_sums sums = raise_b(&p, vldrbq_z_s16(b, active));
        sums.even = glue_scale_mve_by(sums.even, b_scale);
        sums.odd = glue_scale_mve_by(sums.odd, b_scale);
        sums = add_a(&p, vldrbq_z_s16(a, active), sums);
        const int16x8_t codes = glue_narrow_mve(glue_scale_mve_by(sums.even, scale),
                                                glue_scale_mve_by(sums.odd, scale),
                                                p.output_zero_point,
                                                p.activation.min,
                                                p.activation.max);
        vstrbq_p_s16(y, codes, active);
        a += LANES;
        b += LANES;
        y += LANES;
    }
}

/* Which roundings away from zero a form has; CLAMPED also bounds the result. */
typedef enum
{
    FORM_SHORT,
    FORM_RECTIFIED,
    FORM_CLAMPED
} add_form;

/*
 * Multiplication and right shift; halves go away from zero where away is 1. With one rounding a right shift of 0 means a
 * multiplier of 1/2, whose product with (b - zero point) * 2^20 is exact.
 */
static inline int32x4_t scale_right(int32x4_t value, int32_t multiplier, int32_t right, int32_t away, int with_away)
{
    const int32x4_t high = glue_high_n_mve(value, multiplier);
    return with_away ? glue_shift_right_n_mve(high, right, away) : vrshlq_n_s32(high, right);
}

/* Rows: blocks of eight in one of the forms, then what is left. */
static inline arm_cmsis_nn_status
add_rows(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y, add_form form)
{
    const glue_add_mve_params p = *add; /* as above */
    const int32_t b_away = p.b_shift < 0;
    const int32_t away = p.shift < 0;
    const int16x8_t lowest = vdupq_n_s16((int16_t)p.activation.min);
    const int16x8_t highest = vdupq_n_s16((int16_t)p.activation.max);
    for (int32_t row = 0; row < p.dims.rows; row++)
    {
        const int8_t *a_row = a + row * p.dims.a_step;
        const int8_t *b_row = b + row * p.dims.b_step;
        for (int32_t blocks = p.dims.size / LANES; blocks > 0; blocks--)
        {
            lane_sums sums = raise_b(&p, vldrbq_s16(b_row));
            sums.even = scale_right(sums.even, p.b_multiplier, p.b_shift, b_away, form != FORM_SHORT);
            sums.odd = scale_right(sums.odd, p.b_multiplier, p.b_shift, b_away, form != FORM_SHORT);
            sums = add_a(&p, vldrbq_s16(a_row), sums);
            sums.even = scale_right(sums.even, p.multiplier, p.shift, away, form == FORM_CLAMPED);
            sums.odd = scale_right(sums.odd, p.multiplier, p.shift, away, form == FORM_CLAMPED);
            int16x8_t codes = vqmovntq_s32(vqmovnbq_s32(vreinterpretq_s16_s32(sums.even), sums.even), sums.odd);
            codes = vqaddq_n_s16(codes, (int16_t)p.output_zero_point);
            codes = form == FORM_CLAMPED
                        ? vminq_s16(vmaxq_s16(codes, lowest), highest)
                        : vreinterpretq_s16_s8(vqmovnbq_s16(vreinterpretq_s8_s16(codes), codes));
            vstrbq_s16(y, codes);
            a_row += LANES;
            b_row += LANES;
            y += LANES;
        }
        add_any(add, a_row, b_row, y, p.dims.size % LANES);
        y += p.dims.size % LANES;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status glue_add_s8_mve(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y)
{
    for (int32_t row = 0; row < add->dims.rows; row++)
    {
        add_any(add, a, b, y, add->dims.size);
        a += add->dims.a_step;
        b += add->dims.b_step;
        y += add->dims.size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status
glue_add_short_s8_mve(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y)
{
    return add_rows(add, a, b, y, FORM_SHORT);
}

arm_cmsis_nn_status
glue_add_rectified_s8_mve(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y)
{
    return add_rows(add, a, b, y, FORM_RECTIFIED);
}

arm_cmsis_nn_status
glue_add_clamped_s8_mve(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y)
{
    return add_rows(add, a, b, y, FORM_CLAMPED);
}
