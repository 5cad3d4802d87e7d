/* The C form; the assembly form is in glue_conv_3x3_mve.S. */

#include "glue_mve_lanes.h"

#if !GLUE_MVE_ASM

/* Words of a stream before the weights of two channels, of the weights in one step, and behind them. */
#define BIASES 8
#define WEIGHTS 72
#define SCALES 6

/* Output of two channels at one position. */
static void two_channels(const glue_conv_3x3_mve_layer *layer,
                         const int8_t *x,
                         int32_t row,
                         int32_t column,
                         const int32_t *stream,
                         int8_t *y)
{
    int32_t sums[GLUE_MVE_LANES] = {stream[0], stream[GLUE_MVE_LANES], 0, 0};
    const int8_t *w = (const int8_t *)(stream + BIASES);
    for (int32_t step = 0; step < layer->steps; step++)
    {
        for (int32_t k = 0; k < 9; k++)
        {
            const int32_t ix = column + k % 3;
            const int32_t iy = row + k / 3;
            int8_t codes[GLUE_MVE_STEP];
            if (iy < 0 || iy >= layer->x_height || ix < 0 || ix >= layer->x_width)
            {
                memset(codes, layer->fill, sizeof codes);
            }
            else
            {
                memcpy(codes, x + ((iy * layer->x_width + ix) * layer->steps + step) * GLUE_MVE_STEP, sizeof codes);
            }
            glue_mve_accumulate(sums, 2, codes, w, GLUE_MVE_STEP, GLUE_MVE_STEP);
            w += 2 * GLUE_MVE_STEP;
        }
    }
    const int32_t *scales = stream + BIASES + WEIGHTS * layer->steps;
    const glue_mve_scale scale = {{0, 0, 0, 0}, {scales[0], scales[1], 0, 0}, {scales[3], scales[4], 0, 0}};
    const glue_filter_mve bounds = {.zero_point = scales[5], .low = INT8_MIN, .high = INT8_MAX};
    glue_mve_store(&bounds, sums, &scale, y, 1, 2);
}

arm_cmsis_nn_status
glue_conv_3x3_mve(const glue_conv_3x3_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch)
{
    (void)scratch;
    for (int32_t row = 0; row < layer->y_height; row++)
    {
        for (int32_t column = 0; column < layer->y_width; column++)
        {
            const int32_t *stream = layer->stream;
            for (int32_t c = 0; c < layer->channels; c += 2)
            {
                two_channels(layer, x, row - layer->top, column - layer->left, stream, y + c);
                stream += BIASES + WEIGHTS * layer->steps + SCALES;
            }
            y += layer->channels;
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif
