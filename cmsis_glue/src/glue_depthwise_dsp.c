/* Kernels of any size. */
#include "glue_depthwise_dsp.h"

/* Sums over two windows, at x and at x + second. */
static void two_sums(const glue_depthwise_band *band,
                            const int16_t *x,
                            int32_t second,
                            int32_t width,
                            int32_t *sum_0,
                            int32_t *sum_1)
{
    const int16_t *w = band->spread;
    int32_t sum = band->bias;
    int32_t next = band->bias;
    for (int32_t row = band->rows; row > 0; row--)
    {
        for (int32_t i = 0; i < width; i += 2)
        {
            const uint32_t pair = glue_load32(w);
            sum = glue_smlad(glue_load32(x + i), pair, sum);
            next = glue_smlad(glue_load32(x + i + second), pair, next);
            w += 2;
        }
        x += band->next_row / 2;
    }
    *sum_0 = sum;
    *sum_1 = next;
}

static void any_body(const glue_depthwise_band *band)
{
    const int32_t width = band->params->kernel_elements;
    const int32_t stride = band->params->element_stride;
    glue_depthwise_spread_weights(band);
    for (int32_t line = 0; line < band->lines; line++)
    {
        const int16_t *x = band->x + line * (band->next_line / 2);
        int8_t *y = band->y + line * band->y_line;
        for (int32_t left = band->elements; left > 0; left -= 2)
        {
            const int32_t second = left > 1 ? stride : 0;
            int32_t sum;
            int32_t next;
            two_sums(band, x, second, width, &sum, &next);
            *y = glue_depthwise_code(band, sum, band->is_signed);
            if (left > 1)
            {
                y[band->y_element] = glue_depthwise_code(band, next, band->is_signed);
            }
            y += 2 * band->y_element;
            x += 2 * stride;
        }
    }
}

arm_cmsis_nn_status
glue_depthwise_dsp(const glue_depthwise_dsp_params *params, const int8_t *input, int8_t *output, void *scratch)
{
    return glue_depthwise_channels_dsp(params, input, output, scratch, any_body);
}
