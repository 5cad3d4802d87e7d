#include "glue_scalar.h"

#include "glue_baseline_internal.h"
#include "glue_dense_baseline_group.h"

#include <stddef.h>

/* Channels of one stream. */
#define GROUP 8

/* Outputs of `count` channels whose sums are known. */
static void finish(const glue_scalar_product *layer, const int32_t *sums, const int32_t *numbers, int8_t *y, int32_t count)
{
    for (int32_t c = 0; c < count; c++)
    {
        y[c] = glue_output_baseline(sums[c], numbers, layer->epilogue, layer->zero_point, layer->activation);
        numbers += GLUE_SCALAR_NUMBERS;
    }
}

arm_cmsis_nn_status glue_dense_baseline(const glue_scalar_product *layer, const int8_t *x, int8_t *y)
{
    const int32_t words = GROUP + layer->depth * (GROUP / 4);
    const int32_t *stream = layer->groups;
    int32_t total = 0;
    for (int32_t k = 0; k < layer->depth; k++)
    {
        total += x[k];
    }
    int32_t sums[GROUP];
    for (int32_t i = 0; i < layer->group_count; i++)
    {
        glue_dense_baseline_sums(sums, x, stream, layer->depth, total * -128);
        finish(layer, sums, stream + words, y, GROUP);
        stream += words + GROUP * GLUE_SCALAR_NUMBERS;
        y += GROUP;
    }
    if (layer->tail != NULL)
    {
        const int32_t rest = glue_min(layer->channels, GROUP);
        const int32_t repeated = layer->channels >= GROUP ? GROUP - layer->channels % GROUP : 0;
        glue_dense_baseline_sums(sums, x, layer->tail, layer->depth, total * -128);
        finish(layer, sums, layer->tail + words, y - repeated, rest);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
