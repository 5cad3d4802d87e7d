#include "glue_depthwise_row_scalar.h"

#include "glue_asm.h"
#include "glue_depthwise_scalar_line.h"
#include "glue_scalar_internal.h"

#if !GLUE_ASM

/* Words of a channel's stream: 9 codes fill three. */
#define WORDS (DEPTHWISE_CODES + 3)

/* Code of a tap of channel c, zero in a column of padding. */
static int32_t code(const glue_depthwise_row *row, int32_t line, int32_t column, int32_t c)
{
    const int32_t inside = column >= 0 && column < row->columns + 2 - row->left;
    return inside ? row->x[line * row->row_step + column * row->channels + c] : row->zero;
}

/* Rows [first, end) of the kernel are there. */
static void run(const glue_depthwise_row *row, int32_t first, int32_t end)
{
    for (int32_t c = 0; c < row->channels; c++)
    {
        const int32_t *const stream = row->stream + WORDS * c;
        const int8_t *const weights = (const int8_t *)(stream + DEPTHWISE_CODES);
        int8_t *y = row->y + c;
        /* An output may lie on the first code of the column before its middle one, which is kept. */
        int32_t before[3] = {row->zero, row->zero, row->zero};
        for (int32_t line = first; line < end; line++)
        {
            before[line] = code(row, line - first, -row->left, c);
        }
        for (int32_t i = 0; i < row->columns + row->right; i++)
        {
            int32_t sum = stream[0];
            for (int32_t line = 0; line < 3; line++)
            {
                const int32_t inside = line >= first && line < end;
                const int32_t middle = inside ? code(row, line - first, i - row->left + 1, c) : row->zero;
                const int32_t last = inside ? code(row, line - first, i - row->left + 2, c) : row->zero;
                sum += before[line] * weights[3 * line] + middle * weights[3 * line + 1] + last * weights[3 * line + 2];
                before[line] = middle;
            }
            *y = glue_rectified_scalar(sum, stream + 2);
            y += row->channels;
        }
    }
}

void glue_depthwise_row_all_scalar(const glue_depthwise_row *row)
{
    run(row, 0, 3);
}

void glue_depthwise_row_last_scalar(const glue_depthwise_row *row)
{
    run(row, 1, 3);
}

void glue_depthwise_row_first_scalar(const glue_depthwise_row *row)
{
    run(row, 0, 2);
}

#endif /* !GLUE_ASM */

arm_cmsis_nn_status glue_depthwise_row_scalar(const glue_depthwise_scalar_layer *layer, const int8_t *x, int8_t *y)
{
    const int32_t left = layer->padding.w;
    const int32_t right = layer->output.w + 2 - layer->input.w - left;
    const glue_depthwise_row row = {.x = x,
                                    .y = y,
                                    .stream = layer->streams,
                                    .row_step = layer->input.w * layer->channels,
                                    .channels = layer->channels,
                                    .columns = layer->input.w - 2 + left,
                                    .zero = layer->input_zero_point,
                                    .left = left,
                                    .right = right};
    if (layer->channels < 1 || row.columns < 1 || left < 0 || left > 1 || right < 0 || right > 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    if (layer->padding.h == 0 && layer->input.h == 3)
    {
        glue_depthwise_row_all_scalar(&row);
    }
    else if (layer->padding.h == 1 && layer->input.h == 2)
    {
        glue_depthwise_row_last_scalar(&row);
    }
    else if (layer->padding.h == 0 && layer->input.h == 2)
    {
        glue_depthwise_row_first_scalar(&row);
    }
    else
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
