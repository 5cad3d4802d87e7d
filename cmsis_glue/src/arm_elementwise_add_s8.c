#include "arm_nnfunctions.h"

#include "glue_internal.h"

arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *input_1_vect,
                                           const int8_t *input_2_vect,
                                           const int32_t input_1_offset,
                                           const int32_t input_1_mult,
                                           const int32_t input_1_shift,
                                           const int32_t input_2_offset,
                                           const int32_t input_2_mult,
                                           const int32_t input_2_shift,
                                           const int32_t left_shift,
                                           int8_t *output,
                                           const int32_t out_offset,
                                           const int32_t out_mult,
                                           const int32_t out_shift,
                                           const int32_t out_activation_min,
                                           const int32_t out_activation_max,
                                           const int32_t block_size)
{
    if (block_size < 0 || left_shift < 0 || left_shift > 22)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < block_size; i++)
    {
        const int32_t term_1 =
            glue_requantize((input_1_vect[i] + input_1_offset) * (1 << left_shift), input_1_mult, input_1_shift);
        const int32_t term_2 =
            glue_requantize((input_2_vect[i] + input_2_offset) * (1 << left_shift), input_2_mult, input_2_shift);
        output[i] = glue_clamp_s8(
            glue_requantize(term_1 + term_2, out_mult, out_shift) + out_offset, out_activation_min, out_activation_max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
