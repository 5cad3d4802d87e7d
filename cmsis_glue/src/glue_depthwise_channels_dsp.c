/*
 * The way of every depthwise convolution: for each channel, gather lines of it into scratch memory as halfwords between
 * padding, so that one load brings two neighbours to multiply at once, and compute a band of output lines from them.
 */
#include "glue_depthwise_dsp.h"

#include "glue_asm.h"
#include "glue_dsp_intrinsics.h"
#include "glue_internal.h"

#include <stddef.h>

static void fill(int16_t *x, int32_t size, int32_t value)
{
    for (int32_t i = 0; i < size; i++)
    {
        x[i] = (int16_t)value;
    }
}

/* Moves words towards lower addresses; both are aligned. */
static void move_down(int16_t *to, const int16_t *from, int32_t halfwords)
{
    for (int32_t i = 0; i < halfwords; i += 2)
    {
        glue_store32(to + i, glue_load32(from + i));
    }
}

#if !GLUE_ASM
void glue_depthwise_gather_lines(const glue_depthwise_gather *job)
{
    const int8_t *line = job->x;
    int16_t *to = job->to;
    for (int32_t i = 0; i < job->lines; i++)
    {
        const int8_t *x = line;
        for (int32_t j = 0; j < job->elements; j++)
        {
            to[j] = *x;
            x += job->element_step;
        }
        line += job->line_step;
        to += job->to_step / 2;
    }
}
#endif

void glue_depthwise_spread_weights(const glue_depthwise_band *band)
{
    const int8_t *w = band->weights;
    int16_t *to = band->spread;
    for (int32_t line = 0; line < band->params->kernel_lines; line++)
    {
        for (int32_t i = 0; i < band->params->kernel_elements; i++)
        {
            *to++ = (int16_t)(*w++ * (1 << band->factor));
        }
        if (band->params->kernel_elements % 2 != 0)
        {
            *to++ = 0;
        }
    }
}

/* Sum over the window at x; weights are spread. */
static int32_t window_sum(const glue_depthwise_band *band, const int16_t *x)
{
    const int32_t width = band->params->kernel_elements;
    const int16_t *w = band->spread;
    int32_t sum = band->bias;
    for (int32_t row = 0; row < band->params->kernel_lines; row++)
    {
        for (int32_t i = 0; i < width; i += 2)
        {
            sum = glue_smlad(glue_load32(x + i), glue_load32(w), sum);
            w += 2;
        }
        x += band->next_row / 2;
    }
    return sum;
}

/* Any kernel in the general requantisation. */
static void general_body(const glue_depthwise_band *band)
{
    const glue_depthwise_dsp_params *params = band->params;
    const int32_t half = band->shift > 0 ? 1 << (band->shift - 1) : 0;
    const int32_t sign = !GLUE_SINGLE_ROUNDING && band->is_signed && band->shift > 0 ? -1 : 0;
    const int32_t once = GLUE_SINGLE_ROUNDING && band->shift > 0; /* the shift does all the rounding */
    glue_depthwise_spread_weights(band);
    for (int32_t line = 0; line < band->lines; line++)
    {
        const int16_t *x = band->x + line * (band->next_line / 2);
        int8_t *y = band->y + line * band->y_line;
        for (int32_t i = 0; i < band->elements; i++)
        {
            const int32_t sum = window_sum(band, x);
            int32_t h = once ? glue_smmul(sum, band->multiplier) : glue_smmulr(sum, band->multiplier);
            h += (h >> 31) & sign;
            *y = glue_clamp_s8(
                ((h + half) >> band->shift) + band->zero, params->activation.min, params->activation.max);
            y += band->y_element;
            x += params->element_stride;
        }
    }
}

/* Bias and requantisation of channel c. */
static void prepare(const glue_depthwise_dsp_params *params, int32_t c, glue_depthwise_band *band)
{
    const int32_t form = params->forms[c];
    band->is_short = form >= GLUE_DEPTHWISE_SHORT;
    if (!band->is_short)
    {
        band->factor = 1 + glue_max(-form, 0);
        band->shift = glue_max(form, 0);
    }
    else if (band->is_signed)
    {
        band->factor = 1;
        band->constant = (int32_t)(UINT32_MAX << (32 - (form - GLUE_DEPTHWISE_SHORT)));
    }
    else
    {
        /* Floor of the exact quotient in one step, scaled so that the last shift is the same for all channels. */
        band->factor = GLUE_DEPTHWISE_SHIFT + 1 - (form - GLUE_DEPTHWISE_SHORT);
        const int32_t first_half = GLUE_SINGLE_ROUNDING ? 0 : 1 << (band->factor - 2);
        band->constant = first_half + (1 << (GLUE_DEPTHWISE_SHIFT - 1)) +
                         params->output_zero * (1 << GLUE_DEPTHWISE_SHIFT);
    }
    band->bias = glue_shift_left(params->factors[2 * c], band->factor);
    band->multiplier = params->factors[2 * c + 1];
}

/* Lines [from, to) of a band whose line 0 is line first of the image. */
static void gather_lines(const glue_depthwise_dsp_params *params,
                         const int8_t *x,
                         int32_t first,
                         int32_t from,
                         int32_t to,
                         int16_t *lines,
                         glue_depthwise_gather *job)
{
    const int32_t begin = glue_max(from, -first);
    const int32_t end = glue_min(to, params->lines - first);
    lines += params->element_padding;
    if (params->band < params->output_lines) /* with one band the padding has never been overwritten */
    {
        for (int32_t i = from; i < to; i++)
        {
            if (i < begin || i >= end)
            {
                fill(lines + i * params->pitch, params->elements, params->input_zero);
            }
        }
    }
    if (begin < end)
    {
        job->x = x + (first + begin) * params->line_step;
        job->to = lines + begin * params->pitch;
        job->lines = end - begin;
        glue_depthwise_gather_lines(job);
    }
}

/* All bands of a channel; band->y is its first output. */
static void channel(const glue_depthwise_dsp_params *params,
                    const int8_t *x,
                    int16_t *lines,
                    glue_depthwise_gather *job,
                    glue_depthwise_band *band,
                    glue_depthwise_body body)
{
    const int32_t window = (params->kernel_lines - 1) * params->line_dilation + 1;
    const int32_t step = params->band * params->line_stride;
    const int32_t kept = glue_max(window - params->line_stride, 0);
    int32_t first = -params->line_padding;
    int32_t from = 0;
    for (int32_t left = params->output_lines; left > 0; left -= params->band)
    {
        band->lines = glue_min(params->band, left);
        gather_lines(params, x, first, from, (band->lines - 1) * params->line_stride + window, lines, job);
        if (band->is_short)
        {
            body(band);
        }
        else
        {
            general_body(band);
        }
        if (left > params->band)
        {
            move_down(lines, lines + step * params->pitch, kept * params->pitch);
            band->y += params->band * params->output_line_step;
            first += step;
            from = kept;
        }
    }
}

arm_cmsis_nn_status glue_depthwise_channels_dsp(const glue_depthwise_dsp_params *params,
                                                const int8_t *input,
                                                int8_t *output,
                                                void *scratch,
                                                glue_depthwise_body body)
{
    if (scratch == NULL || params->multiplier < 1 || params->band < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t taps = params->kernel_lines * params->kernel_elements;
    const int32_t window = (params->kernel_lines - 1) * params->line_dilation + 1;
    const int32_t held = ((params->band - 1) * params->line_stride + window) * params->pitch;
    int16_t *const lines = (int16_t *)scratch;
    glue_depthwise_gather job = {.elements = params->elements,
                                 .line_step = params->line_step,
                                 .element_step = params->element_step,
                                 .to_step = params->pitch * 2};
    glue_depthwise_band band = {.x = lines,
                                .next_row = params->line_dilation * params->pitch * 2,
                                .next_line = params->line_stride * params->pitch * 2,
                                .elements = params->output_elements,
                                .y_element = params->output_element_step,
                                .y_line = params->output_line_step,
                                .zero = params->output_zero,
                                .is_signed = params->rectified == 0,
                                .spread = lines + held,
                                .rows = params->kernel_lines,
                                .params = params};

    fill(lines, held, params->input_zero);
    for (int32_t image = 0; image < params->images; image++)
    {
        const int8_t *x = input + image * params->image_step;
        int32_t reader = 0; /* which output channel of input channel x is next */
        band.weights = params->weights;
        for (int32_t c = 0; c < params->channels; c++)
        {
            prepare(params, c, &band);
            band.y = output + c;
            channel(params, x, lines, &job, &band, body);
            band.weights += taps;
            if (++reader == params->multiplier)
            {
                reader = 0;
                x++;
            }
        }
        output += params->output_lines * params->output_elements * params->channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
