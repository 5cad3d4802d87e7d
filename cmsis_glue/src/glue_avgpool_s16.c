#include "glue_pool_s16.h"

static int32_t sum_of(const glue_pool_s16_params *p, const glue_window_s16 *at, const int16_t *channel)
{
    int32_t sum = 0;
    for (int32_t ky = at->rows.begin; ky < at->rows.end; ky++)
    {
        const int32_t row = (at->y + ky) * p->input.w + at->x;
        for (int32_t kx = at->columns.begin; kx < at->columns.end; kx++)
        {
            sum += channel[(row + kx) * p->input.c];
        }
    }
    return sum;
}

/* Cells along one axis that count. */
static int32_t counted(int32_t start, glue_span inside, int32_t window, int32_t size, int32_t end, int32_t padded)
{
    return padded != 0 ? glue_min(start + window, size + end) - start : inside.end - inside.begin;
}

arm_cmsis_nn_status glue_avgpool_s16(const glue_pool_s16_params *params, const int16_t *input, int16_t *output)
{
    const glue_pool_s16_params *const p = params;
    if (!glue_pool_valid_s16(p) || p->table_size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < p->input.n; n++)
    {
        for (int32_t oy = 0; oy < p->output.h; oy++)
        {
            for (int32_t ox = 0; ox < p->output.w; ox++)
            {
                const glue_window_s16 at = glue_place_window_s16(p, oy, ox);
                const int32_t padded = p->count_include_pad;
                const int32_t rows =
                    counted(at.y, at.rows, p->window.h, p->input.h, p->padding_end.h, padded);
                const int32_t columns =
                    counted(at.x, at.columns, p->window.w, p->input.w, p->padding_end.w, padded);
                const int32_t entry = p->table_size == 1 ? 0 : rows * columns - 1;
                if (rows < 1 || columns < 1 || entry >= p->table_size)
                {
                    return ARM_CMSIS_NN_ARG_ERROR;
                }
                for (int32_t c = 0; c < p->input.c; c++)
                {
                    const int32_t sum = sum_of(p, &at, input + c);
                    *output++ =
                        glue_clamp_s16(glue_requantize(sum, p->multipliers[entry], p->shifts[entry]), &p->activation);
                }
            }
        }
        input += p->input.h * p->input.w * p->input.c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
