#include "glue.h"

#include "glue_internal.h"

#define FRACTION_BITS 30

/* value * (base + squares * multiplier / 2^shift)^-beta in steps of the output. */
static int64_t scaled(const glue_lrn_params *params, int32_t value, int32_t squares)
{
    const uint32_t power = (uint32_t)params->base + (uint32_t)(((int64_t)squares * params->multiplier) >> params->shift);
    int32_t leading = 31;
    while ((power >> leading) == 0)
    {
        leading--;
    }
    const uint32_t mantissa = power << (31 - leading);
    const int32_t *at = params->fractions + ((mantissa >> 26) & 31);
    const int64_t rest = (mantissa >> 10) & 0xFFFF;
    const int64_t fraction = at[0] + ((((int64_t)at[1] - at[0]) * rest) >> 16);
    const int64_t factor = (fraction * params->factors[leading]) >> FRACTION_BITS;
    const int32_t shift = params->shifts[leading];
    return (value * factor + (INT64_C(1) << (shift - 1))) >> shift;
}

static int32_t square(int32_t value)
{
    return value * value;
}

arm_cmsis_nn_status glue_lrn_s8(
    const glue_lrn_params *params, const int8_t *input, int32_t pixels, int32_t channels, int8_t *output)
{
    if (pixels < 0 || channels < 1 || params->before < 0 || params->after < 0 ||
        params->before + params->after >= GLUE_MAX_REDUCED || params->base < 1 || params->multiplier < 0 ||
        params->shift < 1 || params->shift > 62)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t offset = params->input_offset;
    for (int32_t pixel = 0; pixel < pixels; pixel++)
    {
        int32_t squares = 0;
        for (int32_t c = 0; c < glue_min(params->after, channels); c++)
        {
            squares += square(input[c] + offset);
        }
        for (int32_t c = 0; c < channels; c++)
        {
            if (c + params->after < channels)
            {
                squares += square(input[c + params->after] + offset);
            }
            const int64_t code = scaled(params, input[c] + offset, squares) + params->output_offset;
            output[c] = (int8_t)(code < -128 ? -128 : code > 127 ? 127 : code);
            if (c >= params->before)
            {
                squares -= square(input[c - params->before] + offset);
            }
        }
        input += channels;
        output += channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
