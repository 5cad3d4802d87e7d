/* What kernels on int16 codes share. Not for generated code. */

#ifndef GLUE_WIDE_INTERNAL_H
#define GLUE_WIDE_INTERNAL_H

#include "glue.h"
#include "glue_internal.h"

#include <stddef.h>

/* Products of int16 and int8 whose sum stays in 32 bits, whatever they are. */
#define GLUE_SAFE_PRODUCTS 511

static inline int16_t glue_clamp_s16(int32_t value, const cmsis_nn_activation *range)
{
    return (int16_t)glue_min(glue_max(value, range->min), range->max);
}

static inline int16_t glue_saturate_s16(int32_t value)
{
    return (int16_t)glue_min(glue_max(value, INT16_MIN), INT16_MAX);
}

/* Sum of x[i] * w[i]; the caller knows that it stays in 32 bits. */
static inline int32_t glue_dot_s16(const int16_t *x, const int8_t *w, int32_t size)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < size; i++)
    {
        sum += x[i] * w[i];
    }
    return sum;
}

/* Output code of channel c from the sum of its products. */
static inline int16_t glue_finish_s16(const glue_layer_s16_params *p, int64_t sum, int32_t c)
{
    const int32_t shift = p->shift[c];
    if (p->bias64 == NULL)
    {
        return glue_clamp_s16(glue_requantize((int32_t)sum + p->bias32[c], p->multiplier[c], shift), &p->activation);
    }
    const int32_t scaled = (int32_t)(((sum + p->bias64[c]) * p->multiplier[c]) >> (14 - shift));
    return glue_clamp_s16((scaled + 1) >> 1, &p->activation);
}

static inline int glue_layer_valid_s16(const glue_layer_s16_params *p)
{
    return glue_dims_valid(&p->input, &p->output) && p->filter.c >= 1 && p->dilation.w >= 1 && p->dilation.h >= 1 &&
           (p->bias32 == NULL) != (p->bias64 == NULL);
}

#endif /* GLUE_WIDE_INTERNAL_H */
