/* One short row of outputs of 3 x 3 windows. The assembly twins of the inner loops are in glue_depthwise_row_mve.S. */

#include "glue_depthwise_row_mve.h"

#include "glue_depthwise_mve_strip.h"
#include "glue_mve_lanes.h"

#if !GLUE_MVE_ASM

#define MOST_OUTPUTS 8

/* Code of a tap, zero where there is padding. */
static int32_t code(const glue_depthwise_row_job *job, int32_t line, int32_t column, int32_t c)
{
    const int32_t row = job->missing == GLUE_ROW_FIRST ? line - 1 : line;
    const int32_t rows = job->missing == GLUE_ROW_NONE ? 3 : 2;
    const int32_t inside = row >= 0 && row < rows && column >= 0 && column < job->columns;
    return inside ? job->x[row * job->row_step + column * job->channels + c] : job->zero;
}

/* Channels 0, 2, 1, 3 of four follow one another; what is in their tables is in their records, too. */
static const int32_t *record_of(const glue_depthwise_row_job *job, int32_t c)
{
    const int32_t group = c / 4 * (4 * GLUE_ROW_RECORD + GLUE_ROW_TABLES);
    return job->weights + group + (c % 4 / 2 + c % 2 * 2) * GLUE_ROW_RECORD;
}

/* All outputs of a channel are computed before one is written: they may lie on the first row. */
static void run(const glue_depthwise_row_job *job, int32_t outputs)
{
    for (int32_t c = 0; c < job->channels; c++)
    {
        const int32_t *const record = record_of(job, c), *const biases = record + GLUE_ROW_WEIGHTS;
        const int32_t *const scale = biases + (c % 4 < 2 ? 5 : 4);
        const int8_t *const weights = (const int8_t *)record;
        int8_t codes[MOST_OUTPUTS];
        for (int32_t i = 0; i < outputs; i++)
        {
            int32_t sum = biases[0];
            for (int32_t k = 0; k < 3; k++)
            {
                for (int32_t line = 0; line < 3; line++)
                {
                    sum += code(job, line, i + k - job->padding, c) * weights[4 * k + line];
                }
            }
            codes[i] = glue_clamp_s8(glue_requantize(sum, scale[0], scale[1]) + job->output_zero, -128, 127);
        }
        for (int32_t i = 0; i < outputs; i++)
        {
            job->y[i * job->channels + c] = codes[i];
        }
    }
}

void glue_depthwise_row_4_mve(glue_depthwise_row_job *job)
{
    run(job, 4);
}

void glue_depthwise_row_5_mve(glue_depthwise_row_job *job)
{
    run(job, 5);
}

void glue_depthwise_row_6_mve(glue_depthwise_row_job *job)
{
    run(job, 6);
}

void glue_depthwise_row_7_mve(glue_depthwise_row_job *job)
{
    run(job, 7);
}

void glue_depthwise_row_8_mve(glue_depthwise_row_job *job)
{
    run(job, 8);
}

#endif

arm_cmsis_nn_status
glue_depthwise_row_mve(const glue_depthwise_row_mve_params *params, const int8_t *x, int8_t *y, void *scratch)
{
    int8_t *const cells = scratch;
    const int32_t after = params->padding + params->columns;
    glue_depthwise_row_job job = {.x = x,
                                  .row_step = params->columns * params->channels,
                                  .channels = params->channels,
                                  .columns = params->columns,
                                  .cell = cells + params->padding * GLUE_STRIP_CELL,
                                  .missing = params->missing,
                                  .zero = params->input_zero,
                                  .y = y,
                                  .weights = params->weights,
                                  .left = params->channels,
                                  .cells = cells,
                                  .after = cells,
                                  .output_zero = params->output_zero,
                                  .padding = params->padding};
    if (params->outputs + 2 > after)
    {
        job.after = cells + after * GLUE_STRIP_CELL;
    }
    params->run(&job);
    return ARM_CMSIS_NN_SUCCESS;
}
