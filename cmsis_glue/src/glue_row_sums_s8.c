#include "glue_rows.h"

#include "glue_mve_lanes.h"
#include "glue_word_sums.h"

/* Adds the sums of four channels. */
static void add_sums(const int8_t *x, int32_t cells, int32_t step, int32_t *sums)
{
#if GLUE_MVE
    int32x4_t total = vldrwq_s32(sums);
    for (int32_t i = 0; i < cells; i++)
    {
        total = vaddq_s32(total, vldrbq_s32(x));
        x += step;
    }
    vstrwq_s32(sums, total);
#else
    glue_add_word_sums(x, cells, step, sums);
#endif
}

static int32_t sum_bytes(const int8_t *x, int32_t cells, int32_t step)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < cells; i++)
    {
        sum += *x;
        x += step;
    }
    return sum;
}

arm_cmsis_nn_status
glue_row_sums_s8(const int8_t *row, int32_t pixels, int32_t channels, int32_t add, int32_t *sums)
{
    if (pixels < 1 || channels < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    if (add == 0)
    {
        memset(sums, 0, (size_t)channels * sizeof *sums);
    }
    const int32_t words = glue_word_channels(channels);
    int32_t c = 0;
    for (; c < words; c += 4)
    {
        add_sums(row + c, pixels, channels, sums + c);
    }
    for (; c < channels; c++)
    {
        sums[c] += sum_bytes(row + c, pixels, channels);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status glue_sums_mean_s8(const int32_t *sums,
                                      int32_t channels,
                                      int32_t count,
                                      int32_t activation_min,
                                      int32_t activation_max,
                                      int8_t *output)
{
    if (count < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t half = count / 2;
    for (int32_t c = 0; c < channels; c++)
    {
        const int32_t mean = (sums[c] > 0 ? sums[c] + half : sums[c] - half) / count;
        output[c] = glue_clamp_s8(mean, activation_min, activation_max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status glue_sums_rescaled_s8(const int32_t *sums,
                                          int32_t channels,
                                          int32_t offset,
                                          int32_t multiplier,
                                          int32_t shift,
                                          int32_t output_offset,
                                          int32_t activation_min,
                                          int32_t activation_max,
                                          int8_t *output)
{
    for (int32_t c = 0; c < channels; c++)
    {
        const int32_t scaled = glue_requantize(sums[c] - offset, multiplier, shift) + output_offset;
        output[c] = glue_clamp_s8(scaled, activation_min, activation_max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
