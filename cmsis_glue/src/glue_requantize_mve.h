/* Requantise() on four accumulators at once. */

#ifndef GLUE_REQUANTIZE_MVE_H
#define GLUE_REQUANTIZE_MVE_H

#include "glue_rounding.h"

#include <arm_mve.h>
#include <stdint.h>

/*
 * Where products are rounded once, their right shift does it, by 1 at least: left shifts are one larger for it. What
 * saturates there is clamped anyhow.
 */
#define GLUE_LEAST_RIGHT_MVE GLUE_SINGLE_ROUNDING

/* value * multiplier / 2^31, for a right shift to follow. */
static inline int32x4_t glue_high_mve(int32x4_t value, int32x4_t multiplier)
{
#if GLUE_SINGLE_ROUNDING
    return vqdmulhq_s32(value, multiplier);
#else
    return vqrdmulhq_s32(value, multiplier);
#endif
}

static inline int32x4_t glue_high_n_mve(int32x4_t value, int32_t multiplier)
{
#if GLUE_SINGLE_ROUNDING
    return vqdmulhq_n_s32(value, multiplier);
#else
    return vqrdmulhq_n_s32(value, multiplier);
#endif
}

/* The right shift by -right; a second rounding goes away from zero, but only where something is shifted out. */
static inline int32x4_t glue_shift_right_mve(int32x4_t high, int32x4_t right)
{
#if GLUE_SINGLE_ROUNDING
    return vrshlq_s32(high, right);
#else
    return vrshlq_s32(vaddq_s32(high, vshrq_n_s32(vandq_s32(high, right), 31)), right);
#endif
}

/* The same for one shift; away: 1 for a second rounding that goes away from zero. */
static inline int32x4_t glue_shift_right_n_mve(int32x4_t high, int32_t right, int32_t away)
{
#if GLUE_SINGLE_ROUNDING
    (void)away;
    return vrshlq_n_s32(high, right);
#else
    return vrshlq_n_s32(vmlaq_n_s32(high, vshrq_n_s32(high, 31), away), right);
#endif
}

/* Shifts in [-31, 30]. */
static inline int32x4_t glue_requantize_mve(int32x4_t value, int32x4_t multiplier, int32x4_t shift)
{
    const int32x4_t right = vminq_s32(shift, vdupq_n_s32(-GLUE_LEAST_RIGHT_MVE));
    const int32x4_t raised = vqshlq_s32(value, vsubq_s32(shift, right));
    return glue_shift_right_mve(glue_high_mve(raised, multiplier), right);
}

/* A multiplier and shift for all lanes, in scalar registers: vectors are scarce. */
typedef struct
{
    int32_t multiplier;
    int32_t left;
    int32_t right; /* -GLUE_LEAST_RIGHT_MVE or less */
    int32_t away;  /* 1: halves go away from zero, as right < 0 wants it with two roundings */
} glue_scale_mve;

static inline glue_scale_mve glue_scale_of(int32_t multiplier, int32_t shift)
{
    const int32_t right = shift < -GLUE_LEAST_RIGHT_MVE ? shift : -GLUE_LEAST_RIGHT_MVE;
    const glue_scale_mve scale = {multiplier, shift - right, right, shift < 0 ? 1 : 0};
    return scale;
}

/* Without the left shift. */
static inline int32x4_t glue_scale_mve_right(int32x4_t value, glue_scale_mve scale)
{
    return glue_shift_right_n_mve(glue_high_n_mve(value, scale.multiplier), scale.right, scale.away);
}

static inline int32x4_t glue_scale_mve_by(int32x4_t value, glue_scale_mve scale)
{
    return glue_scale_mve_right(vqshlq_r_s32(value, scale.left), scale);
}

/*
 * Eight results as 16-bit lanes: the even ones from `even`, the odd ones from `odd`; zero point added, clamped. The
 * narrowing saturates, so that nothing wraps however far the values are out of range.
 */
static inline int16x8_t
glue_narrow_mve(int32x4_t even, int32x4_t odd, int32_t zero_point, int32_t lowest, int32_t highest)
{
    int16x8_t codes = vqmovnbq_s32(vdupq_n_s16(0), even);
    codes = vqmovntq_s32(codes, odd);
    codes = vqaddq_n_s16(codes, (int16_t)zero_point);
    codes = vmaxq_s16(codes, vdupq_n_s16((int16_t)lowest));
    return vminq_s16(codes, vdupq_n_s16((int16_t)highest));
}

#endif /* GLUE_REQUANTIZE_MVE_H */
