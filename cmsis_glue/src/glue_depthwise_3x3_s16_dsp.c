/*
 * Channel after channel, in lines along the rows or the columns of the image. Every column of three codes is read once: it
 * is the right one of an output, the middle one of the next and the left one of the one after. The upper code comes from
 * scratch memory, where the line before left it, so that outputs may be written over it.
 */
#include "glue_conv_s16_dsp_tile.h"
#include "glue_requantize_s16_dsp.h"

/* Lines of outputs. A row outside the image is read from another one, and its weights are masked. */
typedef struct
{
    int16_t *kept;     /* codes of the upper row, which those of the middle row replace */
    int32_t lower;     /* codes from the middle to the lower row */
    uint32_t mask_01;  /* of the weights of the upper and middle rows */
    uint32_t mask_2;   /* of the lower row */
    int32_t step;      /* codes from column to column */
    int32_t output_step;
    int32_t columns;   /* of the input */
    int32_t padding;   /* columns before */
    int32_t outputs;
    int32_t low;
    int32_t high;
} line_of_outputs;

/* Sums of the next two outputs, and the weights. */
typedef struct
{
    int32_t bias;
    int32_t next;
    int32_t after;
    uint32_t left;
    uint32_t middle;
    uint32_t right;
    uint32_t lower; /* left, middle of row 2 */
    uint32_t lower_right;
} rolling;

/* The sum that this column completes. */
static inline int32_t column(rolling *sums, int32_t lower_row, const int16_t *x, int16_t *kept)
{
    const uint32_t code = (uint16_t)x[0], upper = glue_pkhbt((uint16_t)*kept, code), lower = (uint16_t)x[lower_row];
    *kept = (int16_t)(uint16_t)code;
    const int32_t whole = glue_smlabb(lower, sums->lower_right, glue_smlad(upper, sums->right, sums->next));
    sums->next = glue_smlatb(sums->lower, lower, glue_smlad(upper, sums->middle, sums->after));
    sums->after = glue_smlabb(lower, sums->lower, glue_smlad(upper, sums->left, sums->bias));
    return whole;
}

static inline void store(const line_of_outputs *line, int32_t sum, const int32_t *scale, int32_t form, int16_t *y)
{
    const int32_t code = glue_code_s16_dsp(sum, scale, form);
    const int32_t above = (form & GLUE_TILE_CLAMPED) != 0 && code < line->low ? line->low : code;
    *y = (int16_t)((form & GLUE_TILE_CLAMPED) != 0 && above > line->high ? line->high : above);
}

/* One line of a channel; x is its middle row, form is a constant at every call. */
static inline void
one_line(const line_of_outputs *line, const int16_t *x, const int32_t *factors, int32_t form, int16_t *y)
{
    const int32_t step = line->step, bias = factors[5], lower_row = line->lower;
    const int32_t scale[2] = {factors[6], factors[7]};
    rolling sums = {bias,
                    bias,
                    bias,
                    (uint32_t)factors[0] & line->mask_01,
                    (uint32_t)factors[1] & line->mask_01,
                    (uint32_t)factors[2] & line->mask_01,
                    (uint32_t)factors[3] & line->mask_2,
                    (uint32_t)factors[4] & line->mask_2};
    int16_t *kept = line->kept, *const end = kept + line->columns;
    for (int32_t i = line->padding; i < 2; i++, x += step)
    {
        (void)column(&sums, lower_row, x, kept++);
    }
    for (; kept != end; x += step, y += line->output_step)
    {
        store(line, column(&sums, lower_row, x, kept++), scale, form, y);
    }
    if (line->outputs > line->columns - (2 - line->padding))
    {
        store(line, sums.next, scale, form, y);
    }
}

static void rectified_line(const line_of_outputs *line, const int16_t *x, const int32_t *factors, int16_t *y)
{
    one_line(line, x, factors, GLUE_TILE_RECTIFIED, y);
}

static void signed_line(const line_of_outputs *line, const int16_t *x, const int32_t *factors, int16_t *y)
{
    one_line(line, x, factors, GLUE_TILE_SIGNED, y);
}

static void clamped_line(const line_of_outputs *line, const int16_t *x, const int32_t *factors, int16_t *y)
{
    one_line(line, x, factors, GLUE_TILE_SIGNED + GLUE_TILE_CLAMPED, y);
}

typedef void (*line_function)(const line_of_outputs *line, const int16_t *x, const int32_t *factors, int16_t *y);

/* A direction of the image. */
typedef struct
{
    int32_t step; /* codes */
    int32_t output_step;
    int32_t size;
    int32_t padding;
    int32_t outputs;
} direction;

static direction across(const glue_layer_s16_params *p)
{
    const direction found = {p->input.c, p->output.c, p->input.w, p->padding.w, p->output.w};
    return found;
}

static direction down(const glue_layer_s16_params *p)
{
    const direction found = {
        p->input.w * p->input.c, p->output.w * p->output.c, p->input.h, p->padding.h, p->output.h};
    return found;
}

/* All lines of one channel. */
static void one_channel(line_of_outputs *line,
                        const direction *lines,
                        line_function run,
                        const int16_t *x,
                        const int32_t *factors,
                        int16_t *y)
{
    const int32_t padding = lines->padding;
    if (padding == 0)
    {
        for (int32_t i = 0; i < line->columns; i++)
        {
            line->kept[i] = x[i * line->step];
        }
    }
    for (int32_t i = 0; i < lines->outputs; i++)
    {
        const int32_t middle = i + 1 - padding, below = middle + 1 >= lines->size, only = middle >= lines->size;
        line->lower = below ? 0 : lines->step;
        line->mask_01 = (middle == 0 ? 0U : 0xFFFFU) | (only ? 0U : 0xFFFF0000U);
        line->mask_2 = below ? 0U : 0xFFFFFFFFU;
        run(line, x + (only ? 0 : middle * lines->step), factors, y);
        y += lines->output_step;
    }
}

arm_cmsis_nn_status glue_depthwise_3x3_s16_dsp(const glue_depthwise_s16_dsp_params *params,
                                               const int16_t *input,
                                               int16_t *output,
                                               void *scratch)
{
    const glue_layer_s16_params *const p = &params->layer;
    const direction lines = params->down ? across(p) : down(p), along = params->down ? down(p) : across(p);
    glue_tile_dsp clamp;
    line_of_outputs line;
    glue_conv_s16_dsp_clamp(&clamp, &p->activation);
    const line_function run = clamp.form == GLUE_TILE_RECTIFIED ? rectified_line
                              : clamp.form == GLUE_TILE_SIGNED  ? signed_line
                                                                : clamped_line;
    line.kept = scratch;
    line.step = along.step;
    line.output_step = along.output_step;
    line.columns = along.size;
    line.padding = along.padding;
    line.outputs = along.outputs;
    line.low = p->activation.min;
    line.high = p->activation.max;
    for (int32_t n = 0; n < p->input.n; n++)
    {
        for (int32_t c = 0; c < p->input.c; c++)
        {
            one_channel(&line, &lines, run, input + c, params->factors + 8 * c, output + c);
        }
        input += p->input.h * p->input.w * p->input.c;
        output += p->output.h * p->output.w * p->output.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
