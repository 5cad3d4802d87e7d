#include "glue_word_sums.h"

static void sum_words(const glue_pool_window *window, const int8_t *x, int32_t step, int32_t *sums)
{
    sums[0] = sums[1] = sums[2] = sums[3] = 0;
    for (int32_t row = 0; row < window->rows; row++)
    {
        glue_add_word_sums(x, window->columns, step, sums);
        x += window->row_step;
    }
}

static int32_t sum_bytes(const glue_pool_window *window, const int8_t *x, int32_t step)
{
    int32_t sum = 0;
    for (int32_t row = 0; row < window->rows; row++)
    {
        const int8_t *cell = x;
        for (int32_t i = 0; i < window->columns; i++)
        {
            sum += *cell;
            cell += step;
        }
        x += window->row_step;
    }
    return sum;
}

static int8_t average(const glue_pool_params *params, int32_t sum, int32_t count)
{
    int32_t code;
    if (params->table_size == 0)
    {
        code = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
    }
    else
    {
        const int32_t entry = params->table_size == 1 ? 0 : count - 1;
        code = params->output_zero + glue_requantize(sum - count * params->input_zero,
                                                       params->multipliers[entry],
                                                       params->shifts[entry]);
    }
    return glue_clamp_s8(code, params->activation.min, params->activation.max);
}

static void average_position(const glue_pool_params *params, const glue_pool_window *window, int8_t *output)
{
    const int32_t count = window->rows * window->columns;
    const int32_t channels = params->input.c;
    const int32_t words = glue_word_channels(channels);
    int32_t c = 0;
    for (; c < words; c += 4)
    {
        int32_t sums[4];
        sum_words(window, window->first + c, channels, sums);
        for (int32_t i = 0; i < 4; i++)
        {
            output[c + i] = average(params, sums[i], count);
        }
    }
    for (; c < channels; c++)
    {
        output[c] = average(params, sum_bytes(window, window->first + c, channels), count);
    }
}

arm_cmsis_nn_status glue_avgpool_words_s8(const glue_pool_params *params, const int8_t *input, int8_t *output)
{
    return glue_pool(params, input, output, average_position);
}
