#include "glue_pool_words.h"

#include "glue_dsp_intrinsics.h"

static inline int8_t max_byte(const glue_pool_window *window, const int8_t *x, int32_t step)
{
    int32_t max = INT8_MIN;
    for (int32_t row = 0; row < window->rows; row++)
    {
        const int8_t *cell = x;
        for (int32_t i = 0; i < window->columns; i++)
        {
            max = glue_max(max, *cell);
            cell += step;
        }
        x += window->row_step;
    }
    return (int8_t)max;
}

#if GLUE_DSP
static inline uint32_t max_word(const glue_pool_window *window, const int8_t *x, int32_t step)
{
    uint32_t max = UINT32_C(0x80808080);
    for (int32_t row = 0; row < window->rows; row++)
    {
        const int8_t *cell = x;
        for (int32_t i = 0; i < window->columns; i++)
        {
            max = glue_max_s8x4(max, glue_load32(cell));
            cell += step;
        }
        x += window->row_step;
    }
    return max;
}

/* Four times the same code. */
static inline uint32_t all(int32_t code)
{
    return (uint32_t)(uint8_t)code * UINT32_C(0x01010101);
}
#endif

static void max_position(const glue_pool_params *params, const glue_pool_window *window, int8_t *output)
{
    const int32_t channels = params->input.c;
    int32_t c = 0;
#if GLUE_DSP
    const uint32_t low = all(params->activation.min);
    const uint32_t high = all(params->activation.max);
    for (; c + 4 <= channels; c += 4)
    {
        const uint32_t max = glue_max_s8x4(max_word(window, window->first + c, channels), low);
        glue_store32(output + c, glue_min_s8x4(max, high));
    }
#endif
    for (; c < channels; c++)
    {
        output[c] = glue_clamp_s8(
            max_byte(window, window->first + c, channels), params->activation.min, params->activation.max);
    }
}

arm_cmsis_nn_status glue_max_pool_words_s8(const glue_pool_params *params, const int8_t *input, int8_t *output)
{
    return glue_pool(params, input, output, max_position);
}
