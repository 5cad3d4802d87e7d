/* Epilogues of the kernels for cores without SIMD. Not for generated code. */

#ifndef GLUE_SCALAR_INTERNAL_H
#define GLUE_SCALAR_INTERNAL_H

#include "glue_internal.h"
#include "glue_scalar.h"

/* Words of a stream per channel besides the weights: a bias and four numbers. */
#define GLUE_SCALAR_NUMBERS 4

static inline int8_t glue_saturate_s8(int32_t value)
{
    return glue_clamp_s8(value, INT8_MIN, INT8_MAX);
}

static inline int64_t glue_scalar_constant(const int32_t *numbers)
{
    return (int64_t)(((uint64_t)(uint32_t)numbers[2] << 32) | (uint32_t)numbers[1]);
}

/* One output of the epilogues RECTIFIED and SIGNED. */
static inline int8_t glue_rectified_scalar(int32_t sum, const int32_t *numbers)
{
    const int64_t total = (int64_t)sum * numbers[0] + glue_scalar_constant(numbers);
    return glue_saturate_s8((int32_t)(total >> 32) >> numbers[3]);
}

static inline int8_t glue_signed_scalar(int32_t sum, const int32_t *numbers)
{
    const int64_t total = (int64_t)(2 * sum) * numbers[0] + glue_scalar_constant(numbers);
    return glue_saturate_s8(((int32_t)(total >> 32) + (sum < 0 ? -1 : 0)) >> numbers[3]);
}

/* One output of the epilogue GENERAL. */
static inline int8_t
glue_general_scalar_one(int32_t sum, const int32_t *numbers, int32_t zero_point, cmsis_nn_activation activation)
{
    return glue_clamp_s8(glue_requantize(sum, numbers[0], numbers[1]) + zero_point, activation.min, activation.max);
}

/* One output of any epilogue. */
static inline int8_t glue_output_scalar(int32_t sum,
                                        const int32_t *numbers,
                                        int32_t epilogue,
                                        int32_t zero_point,
                                        cmsis_nn_activation activation)
{
    if (epilogue == GLUE_SCALAR_RECTIFIED)
    {
        return glue_rectified_scalar(sum, numbers);
    }
    if (epilogue == GLUE_SCALAR_SIGNED)
    {
        return glue_signed_scalar(sum, numbers);
    }
    return glue_general_scalar_one(sum, numbers, zero_point, activation);
}

/* Streams whose channels are interleaved: weights of channel `c` at depth k, as stream[..][k * channels + c]. */
static inline const int8_t *glue_scalar_codes(const int32_t *stream, int32_t channels)
{
    return (const int8_t *)(stream + channels);
}

#endif /* GLUE_SCALAR_INTERNAL_H */
