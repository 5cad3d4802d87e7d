#include "glue_depthwise_mve_strip.h"

#include "glue_internal.h"

#include <arm_mve.h>
#include <stddef.h>

#if GLUE_ASM

_Static_assert(offsetof(glue_strip_mve, steps) == GLUE_STRIP_STEPS, "the assembly forms know the layout");
_Static_assert(offsetof(glue_strip_mve, tail_cells) == GLUE_STRIP_TAIL, "the assembly forms know the layout");
_Static_assert(offsetof(glue_strip_mve, cells) == GLUE_STRIP_CELLS, "the assembly forms know the layout");
_Static_assert(offsetof(glue_strip_mve, zero_point) == GLUE_STRIP_ZERO_POINT, "the assembly forms know the layout");
_Static_assert(offsetof(glue_strip_mve, left) == GLUE_STRIP_LEFT, "the assembly forms know the layout");
_Static_assert(offsetof(glue_strip_mve, window) == GLUE_STRIP_WINDOW, "the assembly forms know the layout");
_Static_assert(offsetof(glue_strip_mve, spread) == GLUE_STRIP_SPREAD, "the assembly forms know the layout");
_Static_assert(offsetof(glue_strip_mve, lowest) == GLUE_STRIP_LOWEST, "the assembly forms know the layout");
_Static_assert(offsetof(glue_strip_mve, highest) == GLUE_STRIP_HIGHEST, "the assembly forms know the layout");
_Static_assert(offsetof(glue_strip_mve, half_spread) == GLUE_STRIP_HALF_SPREAD, "the assembly forms know the layout");

#else

void glue_strip_fill_mve(const glue_strip_lines *lines, uint8_t *cells, int32_t positions, int32_t channels)
{
    const mve_pred16_t active = vctp8q((uint32_t)channels);
    for (int32_t i = 0; i < positions; i++)
    {
        int8x16x4_t rows;
        for (int32_t line = 0; line < 4; line++)
        {
            rows.val[line] = vldrbq_z_s8(lines->x[line] + i * lines->step[line], active);
        }
        vst4q_s8((int8_t *)cells, rows);
        cells += GLUE_STRIP_CELL;
    }
}

#endif

/* Writes the zero point into cells. */
static void clear_cells(uint8_t *cells, int32_t bytes, const int8_t *zero)
{
    const int8x16_t codes = vldrbq_s8(zero);
    for (; bytes > 0; bytes -= 16)
    {
        vstrbq_s8((int8_t *)cells, codes);
        cells += 16;
    }
}

/* What is the same for all strips of a layer. */
static void prepare(const glue_depthwise_strips_mve_params *layer,
                    const glue_strip_form *form,
                    const uint8_t *cells,
                    glue_strip_mve *strip)
{
    const int32_t rest = layer->span % form->outputs;
    const int32_t half = form->outputs / 2;
    int32_t back = 0;
    strip->steps = layer->span / form->outputs;
    strip->tail = 0;
    if (rest > half)
    {
        strip->tail = GLUE_STRIP_WHOLE;
        back = form->outputs - rest;
    }
    else if (rest > 0)
    {
        strip->tail = GLUE_STRIP_HALF;
        back = half - rest;
    }
    strip->tail_cells = -back * form->stride * form->cell;
    strip->tail_y = -back * layer->along.output_step;
    strip->cells = cells;
    strip->zero_point = layer->output_zero_point;
    for (int32_t i = 0; i < 4; i++)
    {
        const int32_t offset = i % half * layer->along.output_step + i / half * layer->across.output_step;
        strip->window[i] = form->window[i];
        strip->half_spread[i] = offset;
        strip->spread[2 * i] = (uint16_t)offset;
        strip->spread[2 * i + 1] = (uint16_t)(offset + half * layer->along.output_step);
    }
    for (int32_t i = 0; i < 8; i++)
    {
        strip->lowest[i] = (int16_t)layer->activation.min;
        strip->highest[i] = (int16_t)layer->activation.max;
    }
}

/* A layer at one place along the strips. */
typedef struct
{
    const glue_depthwise_strips_mve_params *layer;
    const int8_t *x;    /* first position inside the image, of line 0 */
    int8_t *y;          /* first output of line 0 */
    uint8_t *cells;     /* of that position */
    int32_t positions;  /* inside the image */
    const int8_t *zero; /* 16 zero points */
    int8_t *kept;       /* in place: the input line that the strip before has overwritten, without gaps */
    glue_strip_mve strip;
    const glue_strip_form *prepared; /* what strip is for */
} strips_job;

/* Input lines of the strip that begins at output line `line`. */
static void place_lines(const strips_job *job, const glue_strip_form *form, int32_t line, glue_strip_lines *lines)
{
    const glue_depthwise_axis_mve *across = &job->layer->across;
    const int32_t first = line * form->stride - across->padding;
    for (int32_t i = 0; i < GLUE_STRIP_LINES; i++)
    {
        const int32_t at = first + i;
        const int32_t inside = i < form->inputs && at >= 0 && at < across->input;
        lines->x[i] = inside ? job->x + at * across->input_step : job->zero;
        lines->step[i] = inside ? job->layer->along.input_step : 0;
    }
    if (job->layer->in_place && first >= 0 && first < line)
    {
        lines->x[0] = job->kept;
        lines->step[0] = job->layer->channels;
    }
}

/* Keeps a line that the next strip reads after this one has overwritten it. */
static void keep_line(const strips_job *job, const int8_t *x, int8_t *to, int32_t channels)
{
    const mve_pred16_t active = vctp8q((uint32_t)channels);
    const int32_t x_step = job->layer->along.input_step, to_step = job->layer->channels;
    for (int32_t left = job->positions; left > 0; left--)
    {
        vstrbq_p_s8(to, vldrbq_z_s8(x, active), active);
        x += x_step;
        to += to_step;
    }
}

/* All channels of the strip that begins at output line `line`. */
static void run_line(strips_job *job, const glue_strip_form *form, int32_t line)
{
    const int32_t last = form->lines - 1 + job->layer->across.padding; /* of the output lines, among the input lines */
    glue_strip_mve *const strip = &job->strip;
    glue_strip_lines lines;
    int8_t *kept = job->kept;
    if (job->prepared != form)
    {
        prepare(job->layer, form, strip->cells, strip);
        job->prepared = form;
    }
    place_lines(job, form, line, &lines);
    strip->y = job->y + line * job->layer->across.output_step;
    strip->weights = job->layer->weights;
    for (int32_t left = job->layer->channels; left > 0; left -= GLUE_STRIP_CHANNELS)
    {
        const int32_t channels = glue_min(left, GLUE_STRIP_CHANNELS);
        if (job->positions > 0)
        {
            form->fill(&lines, job->cells, job->positions, channels);
        }
        if (job->layer->in_place && line + form->lines < job->layer->across.output)
        {
            keep_line(job, lines.x[last], kept, channels);
            kept += GLUE_STRIP_CHANNELS;
        }
        strip->weights_end = strip->weights + channels * form->record;
        form->run(strip);
        strip->weights = strip->weights_end;
        strip->y += GLUE_STRIP_CHANNELS;
        for (int32_t i = 0; i < form->inputs; i++)
        {
            lines.x[i] += lines.step[i] != 0 ? GLUE_STRIP_CHANNELS : 0;
        }
    }
}

/* Output lines [begin, end) of the strips at one place. */
static void run_lines(strips_job *job, int32_t begin, int32_t end)
{
    const glue_strip_form *form = job->layer->form;
    const glue_strip_form *single = job->layer->single;
    int32_t line = begin;
    for (; line <= end - form->lines; line += form->lines)
    {
        run_line(job, form, line);
    }
    if (line < end && single != NULL)
    {
        run_line(job, single, line);
    }
    else if (line < end)
    {
        run_line(job, form, end - form->lines);
    }
}

/* Strips whose first output is at `start`, or before, where they would leave the image. */
static void go_to(strips_job *job, int32_t start, const int8_t *x, int8_t *y, uint8_t *cells)
{
    const glue_strip_form *form = job->layer->form;
    const glue_depthwise_axis_mve *along = &job->layer->along;
    const int32_t span = job->layer->span;
    const int32_t positions = (span - 1) * form->stride + 3;
    const int32_t output = glue_min(start, along->output - span);
    const int32_t first = output * form->stride - along->padding;
    const int32_t begin = glue_min(glue_max(-first, 0), positions);
    const int32_t end = glue_max(glue_min(along->input - first, positions), begin);
    job->x = x + (first + begin) * along->input_step;
    job->y = y + output * along->output_step;
    job->cells = cells + begin * form->cell;
    job->positions = end - begin;
    job->kept = (int8_t *)(cells + positions * form->cell);
    job->strip.cells = cells;
    clear_cells(cells, begin * form->cell, job->zero);
    clear_cells(cells + end * form->cell, (positions - end) * form->cell, job->zero);
}

/* One image. */
static void run_image(strips_job *job, const int8_t *x, int8_t *y, uint8_t *cells)
{
    const glue_depthwise_strips_mve_params *layer = job->layer;
    const int32_t lines = layer->across.output;
    const int32_t step = layer->by_lines ? layer->form->lines : lines;
    for (int32_t line = 0; line < lines; line += step)
    {
        for (int32_t start = 0; start < layer->along.output; start += layer->span)
        {
            go_to(job, start, x, y, cells);
            run_lines(job, line, glue_min(line + step, lines));
        }
    }
}

arm_cmsis_nn_status
glue_depthwise_strips_s8_mve(const glue_depthwise_strips_mve_params *layer, const int8_t *x, int8_t *y, void *scratch)
{
    int8_t zero[GLUE_STRIP_CHANNELS];
    strips_job job = {.layer = layer, .zero = zero, .prepared = NULL};
    if (layer->span < layer->form->outputs || layer->along.output < layer->span ||
        (layer->single != NULL && layer->span < layer->single->outputs) ||
        (layer->single == NULL && layer->across.output < layer->form->lines))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    vstrbq_s8(zero, vdupq_n_s8((int8_t)layer->input_zero_point));
    for (int32_t n = 0; n < layer->images; n++)
    {
        run_image(&job, x, y, scratch);
        x += layer->image_step;
        y += layer->output_image_step;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
