/* Kernels of five elements per line, two outputs at a time. */
#include "glue_depthwise_dsp.h"

#include "glue_asm.h"

#if !GLUE_ASM
static inline void lines_of(const glue_depthwise_band *band, int32_t stride)
{
    const int32_t words = stride == 1 ? 6 : 3; /* of weights per row */
    for (int32_t line = 0; line < band->lines; line++)
    {
        const int16_t *x = band->x + line * (band->next_line / 2);
        int8_t *y = band->y + line * band->y_line;
        for (int32_t i = 0; i < band->elements; i++)
        {
            /* Outputs at odd places read the words of the one before with the weights one element later. */
            const int32_t later = stride == 1 && i % 2 != 0 ? 1 : 0;
            const int16_t *row = x + i * stride - later;
            int32_t sum = band->bias;
            for (int32_t r = 0; r < band->rows; r++)
            {
                const int16_t *w = band->spread + 2 * words * r + 2 * later;
                sum = glue_smlad(glue_load32(row), glue_load32(w), sum);
                sum = glue_smlad(glue_load32(row + 2), glue_load32(w + 2 * words / 3), sum);
                sum = glue_smlad(glue_load32(row + 4), glue_load32(w + 4 * words / 3), sum);
                row += band->next_row / 2;
            }
            *y = glue_depthwise_code(band, sum, band->is_signed);
            y += band->y_element;
        }
    }
}

void glue_depthwise_5_lines(const glue_depthwise_band *band)
{
    lines_of(band, 1);
}

void glue_depthwise_5_stride2_lines(const glue_depthwise_band *band)
{
    lines_of(band, 2);
}
#endif

static void body(const glue_depthwise_band *band)
{
    const int8_t *w = band->weights;
    int16_t *to = band->spread;
    for (int32_t row = 0; row < band->rows; row++)
    {
        int16_t wide[7] = {0};
        for (int32_t i = 1; i <= 5; i++)
        {
            wide[i] = (int16_t)(*w++ * (1 << band->factor));
        }
        for (int32_t i = 0; i < 6; i += 2)
        {
            to[0] = wide[i + 1];
            to[1] = wide[i + 2];
            to[2] = wide[i];
            to[3] = wide[i + 1];
            to += 4;
        }
    }
    glue_depthwise_5_lines(band);
}

static void stride2_body(const glue_depthwise_band *band)
{
    glue_depthwise_spread_weights(band);
    glue_depthwise_5_stride2_lines(band);
}

arm_cmsis_nn_status
glue_depthwise_5_dsp(const glue_depthwise_dsp_params *params, const int8_t *input, int8_t *output, void *scratch)
{
    return glue_depthwise_channels_dsp(params, input, output, scratch, body);
}

arm_cmsis_nn_status glue_depthwise_5_stride2_dsp(const glue_depthwise_dsp_params *params,
                                                 const int8_t *input,
                                                 int8_t *output,
                                                 void *scratch)
{
    return glue_depthwise_channels_dsp(params, input, output, scratch, stride2_body);
}
