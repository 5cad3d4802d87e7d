/* Arithmetic that several kernels share. Not for generated code. */

#ifndef GLUE_INTERNAL_H
#define GLUE_INTERNAL_H

#include "arm_nn_types.h"
#include "glue_rounding.h"

#include <stdint.h>

static inline int32_t glue_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int32_t glue_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int8_t glue_clamp_s8(int32_t value, int32_t low, int32_t high)
{
    return (int8_t)glue_min(glue_max(value, low), high);
}

/* value * 2^shift; goes through unsigned because shifting a negative number left is undefined. */
static inline int32_t glue_shift_left(int32_t value, int32_t shift)
{
    return (int32_t)((uint32_t)value << shift);
}

/*
 * round(a * b / 2^31), halves towards plus infinity. CMSIS-NN's form that saturates differs only for a = b = -2^31; no
 * caller multiplies two such values (multipliers and the constants of the exponential are above -2^31).
 */
static inline int32_t glue_high_mul(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

/* round(value / 2^shift), halves away from zero, shift in [0, 62]. */
static inline int32_t glue_round_shift(int32_t value, int32_t shift)
{
    const int64_t half = (INT64_C(1) << shift) >> 1;
    return (int32_t)(((int64_t)value + half - (value < 0 && shift > 0 ? 1 : 0)) >> shift);
}

/*
 * value * multiplier / 2^31 * 2^shift with both roundings above, or rounded once, halves towards plus infinity: the
 * product without its lowest 31 bits decides, for a right shift looks at no more than the bits left of them.
 */
static inline int32_t glue_requantize(int32_t value, int32_t multiplier, int32_t shift)
{
    if (shift >= 0)
    {
        return glue_high_mul(glue_shift_left(value, shift), multiplier);
    }
#if GLUE_SINGLE_ROUNDING
    return ((int32_t)(((int64_t)value * multiplier) >> 31 >> (-shift - 1)) + 1) >> 1;
#else
    return glue_round_shift(glue_high_mul(value, multiplier), -shift);
#endif
}

/* Sum of (x[i] + offset) * w[i]. */
static inline int32_t glue_dot(const int8_t *x, const int8_t *w, int32_t offset, int32_t size)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < size; i++)
    {
        sum += (x[i] + offset) * w[i];
    }
    return sum;
}

/* Positions along one axis that are inside an image: begin <= k < end, at start + k * dilation. */
typedef struct
{
    int32_t begin;
    int32_t end;
} glue_span;

/* The taps of a window that fall inside [0, size) when tap k lies at start + k * dilation. */
static inline glue_span glue_taps_inside(int32_t start, int32_t dilation, int32_t taps, int32_t size)
{
    glue_span span;
    span.begin = start < 0 ? (-start + dilation - 1) / dilation : 0;
    span.end = start < size ? glue_min(taps, (size - start + dilation - 1) / dilation) : 0;
    return span;
}

/* True when two pooling or convolution tensors agree in batch and every extent is at least 1. */
static inline int glue_dims_valid(const cmsis_nn_dims *input, const cmsis_nn_dims *output)
{
    return input->n >= 1 && input->h >= 1 && input->w >= 1 && input->c >= 1 && output->h >= 1 && output->w >= 1 &&
           output->c >= 1;
}

#endif /* GLUE_INTERNAL_H */
