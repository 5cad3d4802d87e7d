/* Requantise() on four accumulators at once. */

#ifndef GLUE_REQUANTIZE_MVE_H
#define GLUE_REQUANTIZE_MVE_H

#include <arm_mve.h>
#include <stdint.h>

/* Both roundings of Requantise(); shifts in [-31, 30]. Halves go away from zero only where something is shifted out. */
static inline int32x4_t glue_requantize_mve(int32x4_t value, int32x4_t multiplier, int32x4_t shift)
{
    const int32x4_t left = vmaxq_s32(shift, vdupq_n_s32(0));
    const int32x4_t right = vminq_s32(shift, vdupq_n_s32(0));
    const int32x4_t high = vqrdmulhq_s32(vshlq_s32(value, left), multiplier);
    const int32x4_t sign = vshrq_n_s32(vandq_s32(high, right), 31);
    return vrshlq_s32(vaddq_s32(high, sign), right);
}

/* A multiplier and shift for all lanes, in scalar registers: vectors are scarce. */
typedef struct
{
    int32_t multiplier;
    int32_t left;
    int32_t right; /* negative or 0 */
    int32_t away;  /* 1: halves go away from zero, as right < 0 wants it */
} glue_scale_mve;

static inline glue_scale_mve glue_scale_of(int32_t multiplier, int32_t shift)
{
    const glue_scale_mve scale = {multiplier, shift > 0 ? shift : 0, shift < 0 ? shift : 0, shift < 0 ? 1 : 0};
    return scale;
}

/* Without the left shift. */
static inline int32x4_t glue_scale_mve_right(int32x4_t value, glue_scale_mve scale)
{
    const int32x4_t high = vqrdmulhq_n_s32(value, scale.multiplier);
    return vrshlq_n_s32(vmlaq_n_s32(high, vshrq_n_s32(high, 31), scale.away), scale.right);
}

static inline int32x4_t glue_scale_mve_by(int32x4_t value, glue_scale_mve scale)
{
    return glue_scale_mve_right(vshlq_r_s32(value, scale.left), scale);
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
