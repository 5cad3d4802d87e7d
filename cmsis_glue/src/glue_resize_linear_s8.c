#include "glue.h"

#include "glue_internal.h"

/* Positions have 12 fractional bits. */
#define FRACTION 12
#define ONE (INT32_C(1) << FRACTION)

/* The two cells around a position, and the weight of the second one. */
typedef struct
{
    int32_t low;
    int32_t high;
    int32_t weight;
} neighbours;

static neighbours around(int32_t position, int32_t size)
{
    const int32_t low = position >> FRACTION;
    const neighbours result = {low, glue_min(low + 1, size - 1), position & (ONE - 1)};
    return result;
}

static int positions_fit(const int32_t *positions, int32_t count, int32_t size)
{
    for (int32_t i = 0; i < count; i++)
    {
        if (positions[i] < 0 || positions[i] >> FRACTION >= size)
        {
            return 0;
        }
    }
    return 1;
}

static int8_t between(int8_t a, int8_t b, int8_t c, int8_t d, int32_t weight_x, int32_t weight_y)
{
    const int32_t top = (ONE - weight_x) * a + weight_x * b;
    const int32_t bottom = (ONE - weight_x) * c + weight_x * d;
    const int32_t sum = (ONE - weight_y) * top + weight_y * bottom;
    return (int8_t)((sum + (INT32_C(1) << (2 * FRACTION - 1))) >> (2 * FRACTION));
}

arm_cmsis_nn_status
glue_resize_linear_s8(const glue_resize_linear_params *params, const int8_t *input, int8_t *output)
{
    const glue_resize_linear_params *p = params;
    if (p->outer < 1 || p->height < 1 || p->middle < 1 || p->width < 1 || p->inner < 1 ||
        !positions_fit(p->rows, p->output_height, p->height) || !positions_fit(p->columns, p->output_width, p->width))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t line = p->width * p->inner;
    const int32_t row = p->middle * line;
    for (int32_t outer = 0; outer < p->outer; outer++, input += p->height * row)
    {
        for (int32_t oy = 0; oy < p->output_height; oy++)
        {
            const neighbours y = around(p->rows[oy], p->height);
            for (int32_t middle = 0; middle < p->middle; middle++)
            {
                const int8_t *top = input + y.low * row + middle * line;
                const int8_t *bottom = input + y.high * row + middle * line;
                for (int32_t ox = 0; ox < p->output_width; ox++)
                {
                    const neighbours x = around(p->columns[ox], p->width);
                    const int32_t left = x.low * p->inner;
                    const int32_t right = x.high * p->inner;
                    for (int32_t c = 0; c < p->inner; c++)
                    {
                        *output++ = between(top[left + c],
                                            top[right + c],
                                            bottom[left + c],
                                            bottom[right + c],
                                            x.weight,
                                            y.weight);
                    }
                }
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
