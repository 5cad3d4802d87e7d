#include "glue_mve_lanes.h"

arm_cmsis_nn_status glue_pointwise_walk_mve(const glue_pointwise_mve_layer *layer,
                                            const int8_t *x,
                                            int8_t *y,
                                            int8_t *scratch,
                                            glue_rows_mve_function *multiply)
{
    const glue_filter_mve *filter = &layer->filter;
    const int32_t rest = layer->rows - layer->direct;
    for (int32_t line = 0; line < layer->lines; line++)
    {
        if (layer->direct > 0)
        {
            glue_mve_multiply(filter, x, layer->pitch, layer->direct, y, multiply);
            y += layer->direct * filter->channels;
        }
        x += layer->line_step;
    }
    if (rest > 0)
    {
        const int32_t width = filter->steps * GLUE_MVE_STEP;
        for (int32_t row = 0; row < rest; row++)
        {
            glue_mve_copy(scratch + row * width, x + row * layer->depth, layer->depth);
        }
        glue_mve_multiply(filter, scratch, width, rest, y, multiply);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
