#include "glue_scalar.h"

#include "glue_dense_scalar_group.h"

#include <stddef.h>

/* Channels of one stream, and words of one besides the weights. */
#define GROUP 8
#define OTHER_WORDS 40

arm_cmsis_nn_status glue_dense_scalar(const glue_scalar_product *layer, const int8_t *x, int8_t *y)
{
    glue_dense_scalar_groups(x, y, layer->groups, layer, layer->group_count);
    if (layer->tail != NULL && layer->channels >= GROUP)
    {
        glue_dense_scalar_groups(x, y + layer->channels - GROUP, layer->tail, layer, 1);
    }
    else if (layer->tail != NULL)
    {
        int8_t codes[GROUP];
        glue_dense_scalar_groups(x, codes, layer->tail, layer, 1);
        for (int32_t c = 0; c < layer->channels; c++)
        {
            y[c] = codes[c];
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
