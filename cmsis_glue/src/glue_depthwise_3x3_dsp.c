/* 3 x 3 windows, two outputs at a time. The twin in assembly keeps all in registers, where compilers spill. */
#include "glue_depthwise_dsp.h"

#include "glue_asm.h"

#if !GLUE_ASM
/* Weights 0 and 1 of a row, and 1 and 2, as halfwords, multiplied by 2^factor. */
typedef struct
{
    uint32_t first;
    uint32_t last;
} row_weights;

static inline row_weights pair_up(const glue_depthwise_band *band, int32_t row)
{
    const int8_t *w = band->weights + 3 * row;
    const int32_t scale = 1 << band->factor;
    row_weights pairs;
    pairs.first = glue_pkhbt((uint32_t)(w[0] * scale), (uint32_t)(w[1] * scale));
    pairs.last = glue_pkhbt((uint32_t)(w[1] * scale), (uint32_t)(w[2] * scale));
    return pairs;
}

/* One window; its first element begins a word. */
static inline int32_t window_sum(const glue_depthwise_band *band, const int16_t *x)
{
    int32_t sum = band->bias;
    for (int32_t row = 0; row < 3; row++)
    {
        const row_weights w = pair_up(band, row);
        sum = glue_smlad(glue_load32(x), w.first, sum);
        sum = glue_smlabb(glue_load32(x + 2), w.last >> 16, sum);
        x += band->next_row / 2;
    }
    return sum;
}

/* The window one element further, from the same words. */
static inline int32_t next_window_sum(const glue_depthwise_band *band, const int16_t *x)
{
    int32_t sum = band->bias;
    for (int32_t row = 0; row < 3; row++)
    {
        const row_weights w = pair_up(band, row);
        sum = glue_smlatb(glue_load32(x), w.first, sum);
        sum = glue_smlad(glue_load32(x + 2), w.last, sum);
        x += band->next_row / 2;
    }
    return sum;
}

static inline void one_apart(const glue_depthwise_band *band, int32_t is_signed)
{
    for (int32_t line = 0; line < band->lines; line++)
    {
        const int16_t *x = band->x + line * (band->next_line / 2);
        int8_t *y = band->y + line * band->y_line;
        for (int32_t left = band->elements; left > 0; left -= 2)
        {
            *y = glue_depthwise_code(band, window_sum(band, x), is_signed);
            if (left > 1)
            {
                y[band->y_element] = glue_depthwise_code(band, next_window_sum(band, x), is_signed);
            }
            x += 2;
            y += 2 * band->y_element;
        }
    }
}

static inline void two_apart(const glue_depthwise_band *band, int32_t is_signed)
{
    for (int32_t line = 0; line < band->lines; line++)
    {
        const int16_t *x = band->x + line * (band->next_line / 2);
        int8_t *y = band->y + line * band->y_line;
        for (int32_t i = 0; i < band->elements; i++)
        {
            *y = glue_depthwise_code(band, window_sum(band, x), is_signed);
            x += 2;
            y += band->y_element;
        }
    }
}

void glue_depthwise_3x3_body(const glue_depthwise_band *band)
{
    one_apart(band, 0);
}

void glue_depthwise_3x3_signed_body(const glue_depthwise_band *band)
{
    one_apart(band, 1);
}

void glue_depthwise_3x3_stride2_body(const glue_depthwise_band *band)
{
    two_apart(band, 0);
}

void glue_depthwise_3x3_stride2_signed_body(const glue_depthwise_band *band)
{
    two_apart(band, 1);
}
#endif

arm_cmsis_nn_status
glue_depthwise_3x3_dsp(const glue_depthwise_dsp_params *params, const int8_t *input, int8_t *output, void *scratch)
{
    return glue_depthwise_channels_dsp(params, input, output, scratch, glue_depthwise_3x3_body);
}

arm_cmsis_nn_status glue_depthwise_3x3_signed_dsp(const glue_depthwise_dsp_params *params,
                                                  const int8_t *input,
                                                  int8_t *output,
                                                  void *scratch)
{
    return glue_depthwise_channels_dsp(params, input, output, scratch, glue_depthwise_3x3_signed_body);
}

arm_cmsis_nn_status glue_depthwise_3x3_stride2_dsp(const glue_depthwise_dsp_params *params,
                                                   const int8_t *input,
                                                   int8_t *output,
                                                   void *scratch)
{
    return glue_depthwise_channels_dsp(params, input, output, scratch, glue_depthwise_3x3_stride2_body);
}

arm_cmsis_nn_status glue_depthwise_3x3_stride2_signed_dsp(const glue_depthwise_dsp_params *params,
                                                          const int8_t *input,
                                                          int8_t *output,
                                                          void *scratch)
{
    return glue_depthwise_channels_dsp(params, input, output, scratch, glue_depthwise_3x3_stride2_signed_body);
}
