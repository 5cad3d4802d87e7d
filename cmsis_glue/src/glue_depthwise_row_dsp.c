/*
 * One row of outputs of 3 x 3 windows, straight from the codes. Every column is read once for the three windows that
 * it belongs to. The twin in assembly keeps their sums and all weights in registers.
 */
#include "glue_dsp.h"

#include "glue_asm.h"
#include "glue_depthwise_row_dsp.h"
#include "glue_dsp_intrinsics.h"

#include <stddef.h>

#define WORDS 8 /* of a channel in the stream */

#if !GLUE_ASM
#define SHIFT 11 /* GLUE_DEPTHWISE_SHIFT */

static int32_t low(int32_t word)
{
    return (int16_t)(word & 0xFFFF);
}

static int32_t high(int32_t word)
{
    return word >> 16;
}

/* Weight of a tap. */
static int32_t weight(const int32_t *stream, int32_t row, int32_t column)
{
    if (row < 2)
    {
        return row == 0 ? low(stream[column]) : high(stream[column]);
    }
    return column == 1 ? high(stream[3]) : low(stream[3 + column / 2]);
}

/* Code of a row that is there, zero in a column of padding. */
static int32_t code(const glue_depthwise_row *job, int32_t row, int32_t column, int32_t c)
{
    const int32_t inside = column >= 0 && column < job->columns + 2 - job->left;
    return inside ? job->x[row * job->row_step + column * job->channels + c] : job->zero;
}

/* Rows [first, end) of the kernel are there. sums[i]: of the window of which the column is the one numbered i. */
static void run(const glue_depthwise_row *job, int32_t first, int32_t end)
{
    for (int32_t c = 0; c < job->channels; c++)
    {
        const int32_t *stream = job->stream + WORDS * c;
        int32_t bias = stream[5];
        for (int32_t row = 0; row < 3; row++)
        {
            for (int32_t i = 0; i < 3; i++)
            {
                bias += row < first || row >= end ? job->zero * weight(stream, row, i) : 0;
            }
        }
        int32_t sums[3] = {bias, bias, bias};
        for (int32_t n = 0; n < job->columns + 2 + job->right; n++)
        {
            for (int32_t row = first; row < end; row++)
            {
                const int32_t x = code(job, row - first, n - job->left, c);
                for (int32_t i = 0; i < 3; i++)
                {
                    sums[i] += x * weight(stream, row, i);
                }
            }
            if (n >= 2)
            {
                const int32_t scaled = glue_smmla(sums[2], stream[6], stream[7]);
                job->y[(n - 2) * job->channels + c] = (int8_t)glue_ssat8(scaled >> SHIFT);
            }
            sums[2] = sums[1];
            sums[1] = sums[0];
            sums[0] = bias;
        }
    }
}

void glue_depthwise_row_all(const glue_depthwise_row *job)
{
    run(job, 0, 3);
}

void glue_depthwise_row_last(const glue_depthwise_row *job)
{
    run(job, 1, 3);
}

void glue_depthwise_row_first(const glue_depthwise_row *job)
{
    run(job, 0, 2);
}
#endif

arm_cmsis_nn_status
glue_depthwise_row_dsp(const glue_depthwise_row_dsp_params *params, const int8_t *input, int8_t *output)
{
    const int32_t left = params->padding;
    const int32_t right = params->outputs + 2 - params->columns - left;
    glue_depthwise_row job = {.x = input,
                              .y = output,
                              .stream = params->stream,
                              .row_step = params->columns * params->channels,
                              .channels = params->channels,
                              .columns = params->columns - 2 + left,
                              .zero = params->input_zero,
                              .left = left,
                              .right = right};
    if (params->channels < 1 || job.columns < 1 || left < 0 || left > 1 || right < 0 || right > 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    if (params->first_row == 0 && params->rows == 3)
    {
        glue_depthwise_row_all(&job);
    }
    else if (params->first_row == 1 && params->rows == 2)
    {
        glue_depthwise_row_last(&job);
    }
    else if (params->first_row == 0 && params->rows == 2)
    {
        glue_depthwise_row_first(&job);
    }
    else
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
