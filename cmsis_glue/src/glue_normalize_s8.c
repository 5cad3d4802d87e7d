#include "glue.h"

#include "glue_internal.h"
#include "glue_root.h"

#define FRACTION 20 /* fractional bits of a normalised value; its integer part has at most 8 bits */
#define BIAS_FRACTION 16

/* Elements of one row: `span` blocks of `depth` neighbours, `channels` codes apart. */
typedef struct
{
    int32_t span;
    int32_t depth;
    int32_t channels;
} row_shape;

/* 1 / sqrt(power) = factor * 2^(-shift - FRACTION); factor 0 when power is 0. */
typedef struct
{
    int64_t factor;
    int32_t shift;
} inverse_root;

static inverse_root invert_root(uint64_t power)
{
    inverse_root result = {0, 1};
    if (power == 0)
    {
        return result;
    }
    int32_t doublings = 0;
    while ((power >> 60) == 0)
    {
        power <<= 2;
        doublings++;
    }
    const uint32_t root = glue_square_root(power); /* [2^30, 2^31) */
    result.factor = (int64_t)((UINT64_C(1) << 61) / root);
    result.shift = 61 - FRACTION - doublings;
    return result;
}

static void normalize_row(const glue_normalize_params *params,
                          const row_shape *shape,
                          int32_t first_channel,
                          const int8_t *input,
                          int8_t *output)
{
    const int32_t count = shape->span * shape->depth;
    int32_t sum = 0;
    uint32_t squares = 0;
    for (int32_t i = 0; i < shape->span; i++)
    {
        for (int32_t j = 0; j < shape->depth; j++)
        {
            const int32_t value = input[i * shape->channels + j] + params->input_offset;
            sum += value;
            squares += (uint32_t)(value * value);
        }
    }
    if (params->subtract_mean == 0)
    {
        sum = 0;
    }
    const uint64_t spread = (uint64_t)(uint32_t)count * squares - (uint64_t)((int64_t)sum * sum);
    const inverse_root scale = invert_root(spread + params->epsilon);
    for (int32_t i = 0; i < shape->span; i++)
    {
        for (int32_t j = 0; j < shape->depth; j++)
        {
            const int32_t at = i * shape->channels + j;
            const int32_t entry = params->table_size == 1 ? 0 : first_channel + j;
            const int64_t centred = (int64_t)count * (input[at] + params->input_offset) - sum;
            const int64_t normal = (centred * scale.factor + (INT64_C(1) << (scale.shift - 1))) >> scale.shift;
            const int64_t bias = (int64_t)params->bias[entry] * (INT64_C(1) << (params->shift - BIAS_FRACTION));
            const int64_t code =
                ((normal * params->gain[entry] + bias + (INT64_C(1) << (params->shift - 1))) >> params->shift) +
                params->output_offset;
            output[at] = (int8_t)(code < params->activation.min   ? params->activation.min
                                  : code > params->activation.max ? params->activation.max
                                                                  : code);
        }
    }
}

arm_cmsis_nn_status glue_normalize_s8(const glue_normalize_params *params,
                                      const int8_t *input,
                                      int32_t outer,
                                      int32_t span,
                                      int32_t groups,
                                      int32_t depth,
                                      int8_t *output)
{
    if (outer < 0 || span < 1 || groups < 1 || depth < 1 || span > GLUE_MAX_NORMALIZED / depth ||
        params->epsilon > UINT64_C(1) << 60 || params->shift < BIAS_FRACTION || params->shift > 46 ||
        (params->table_size != 1 && params->table_size != groups * depth))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const row_shape shape = {span, depth, groups * depth};
    for (int32_t o = 0; o < outer; o++)
    {
        for (int32_t g = 0; g < groups; g++)
        {
            normalize_row(params, &shape, g * depth, input + g * depth, output + g * depth);
        }
        input += span * groups * depth;
        output += span * groups * depth;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
