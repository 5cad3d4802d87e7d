#include "glue.h"

#include <string.h>

static int any_below(const cmsis_nn_dims *dims, int32_t low)
{
    return dims->n < low || dims->h < low || dims->w < low || dims->c < low;
}

static int8_t *fill(int8_t *output, int8_t value, int32_t count)
{
    memset(output, value, (size_t)count);
    return output + count;
}

arm_cmsis_nn_status glue_pad_s8(const int8_t *input,
                                const cmsis_nn_dims *input_dims,
                                const cmsis_nn_dims *begin,
                                const cmsis_nn_dims *end,
                                int8_t value,
                                int8_t *output)
{
    if (any_below(input_dims, 1) || any_below(begin, 0) || any_below(end, 0))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t pixel = begin->c + input_dims->c + end->c;
    const int32_t row = (begin->w + input_dims->w + end->w) * pixel;
    const int32_t image = (begin->h + input_dims->h + end->h) * row;

    output = fill(output, value, begin->n * image);
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        output = fill(output, value, begin->h * row);
        for (int32_t y = 0; y < input_dims->h; y++)
        {
            output = fill(output, value, begin->w * pixel);
            for (int32_t x = 0; x < input_dims->w; x++)
            {
                output = fill(output, value, begin->c);
                memcpy(output, input, (size_t)input_dims->c);
                input += input_dims->c;
                output = fill(output + input_dims->c, value, end->c);
            }
            output = fill(output, value, end->w * pixel);
        }
        output = fill(output, value, end->h * row);
    }
    (void)fill(output, value, end->n * image);
    return ARM_CMSIS_NN_SUCCESS;
}
