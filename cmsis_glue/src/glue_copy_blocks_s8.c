#include "glue.h"

#include <string.h>

arm_cmsis_nn_status glue_copy_blocks_s8(const int8_t *input,
                                        int32_t input_stride,
                                        int8_t *output,
                                        int32_t output_stride,
                                        int32_t block_size,
                                        int32_t blocks)
{
    if (input_stride < 0 || output_stride < 0 || block_size < 0 || blocks < 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t b = 0; b < blocks; b++)
    {
        memcpy(output + b * output_stride, input + b * input_stride, (size_t)block_size);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
