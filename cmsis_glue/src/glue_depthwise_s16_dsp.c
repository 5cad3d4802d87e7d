#include "glue_conv_s16_dsp_tile.h"
#include "glue_requantize_s16_dsp.h"
#include "glue_wide_internal.h"

/* The taps of a window that lie inside the image. */
typedef struct
{
    int32_t rows;
    int32_t columns;
    int32_t tap;        /* codes from a tap to the next one of its row */
    int32_t row;        /* from the end of a row to the next one */
    int32_t weight_row; /* likewise in the weights */
    int32_t channels;
    glue_tile_dsp clamp;
} tap_block;

/* Four channels, whose words of codes and weights may lie anywhere. */
static void four_channels(const tap_block *taps, const int16_t *x, const int8_t *w, const int32_t *factors, int16_t *y)
{
    int32_t sums[4] = {factors[0], factors[3], factors[6], factors[9]};
    for (int32_t rows = taps->rows; rows > 0; rows--)
    {
        for (int32_t columns = taps->columns; columns > 0; columns--)
        {
            const uint32_t weights = glue_load32(w), first = glue_load32(x), second = glue_load32(x + 2);
            const uint32_t even = glue_sxtb16(weights), odd = glue_sxtb16_odd(weights);
            sums[0] = glue_smlabb(first, even, sums[0]);
            sums[1] = glue_smlatb(first, odd, sums[1]);
            sums[2] = glue_smlatb(even, second, sums[2]);
            sums[3] = glue_smlatt(second, odd, sums[3]);
            x += taps->tap;
            w += taps->channels;
        }
        x += taps->row;
        w += taps->weight_row;
    }
    for (int32_t i = 0; i < 4; i++)
    {
        const int32_t code = glue_code_s16_dsp(sums[i], factors + 3 * i + 1, taps->clamp.form);
        y[i] = (int16_t)glue_min(glue_max(code, glue_low_half(taps->clamp.low)), glue_low_half(taps->clamp.high));
    }
}

static void one_channel(const tap_block *taps, const int16_t *x, const int8_t *w, const int32_t *factors, int16_t *y)
{
    int32_t sum = factors[0];
    for (int32_t rows = taps->rows; rows > 0; rows--)
    {
        for (int32_t columns = taps->columns; columns > 0; columns--)
        {
            sum = glue_add_modulo(sum, *x * *w);
            x += taps->tap;
            w += taps->channels;
        }
        x += taps->row;
        w += taps->weight_row;
    }
    const int32_t code = glue_code_s16_dsp(sum, factors + 1, taps->clamp.form);
    *y = (int16_t)glue_min(glue_max(code, glue_low_half(taps->clamp.low)), glue_low_half(taps->clamp.high));
}

static void
pixel(const glue_depthwise_s16_dsp_params *params, tap_block *taps, const int16_t *image, int32_t y, int32_t x, int16_t *to)
{
    const glue_layer_s16_params *const p = &params->layer;
    const glue_span rows = glue_taps_inside(y, p->dilation.h, p->filter.h, p->input.h);
    const glue_span columns = glue_taps_inside(x, p->dilation.w, p->filter.w, p->input.w);
    const int32_t line = p->dilation.h * p->input.w * taps->channels;
    const int8_t *w = p->weights;
    taps->rows = columns.begin < columns.end ? glue_max(rows.end - rows.begin, 0) : 0;
    taps->columns = columns.end - columns.begin;
    if (taps->rows > 0)
    {
        image += ((y + rows.begin * p->dilation.h) * p->input.w + x + columns.begin * p->dilation.w) * taps->channels;
        w += (rows.begin * p->filter.w + columns.begin) * taps->channels;
        taps->row = line - taps->columns * taps->tap;
        taps->weight_row = (p->filter.w - taps->columns) * taps->channels;
    }
    int32_t c = 0;
    for (; c <= taps->channels - 4; c += 4)
    {
        four_channels(taps, image + c, w + c, params->factors + 3 * c, to + c);
    }
    for (; c < taps->channels; c++)
    {
        one_channel(taps, image + c, w + c, params->factors + 3 * c, to + c);
    }
}

arm_cmsis_nn_status
glue_depthwise_s16_dsp(const glue_depthwise_s16_dsp_params *params, const int16_t *input, int16_t *output)
{
    const glue_layer_s16_params *const p = &params->layer;
    tap_block taps;
    taps.channels = p->input.c;
    taps.tap = p->dilation.w * p->input.c;
    glue_conv_s16_dsp_clamp(&taps.clamp, &p->activation);
    for (int32_t n = 0; n < p->input.n; n++)
    {
        for (int32_t oy = 0; oy < p->output.h; oy++)
        {
            for (int32_t ox = 0; ox < p->output.w; ox++)
            {
                const int32_t y = oy * p->stride.h - p->padding.h, x = ox * p->stride.w - p->padding.w;
                pixel(params, &taps, input, y, x, output);
                output += p->output.c;
            }
        }
        input += p->input.h * p->input.w * p->input.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
