#include "glue.h"

arm_cmsis_nn_status glue_arg_extreme_s8(
    const int8_t *input, int32_t outer, int32_t reduced, int32_t inner, int32_t largest, int32_t last, int8_t *output)
{
    if (outer < 0 || reduced < 1 || reduced > 256 || inner < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t o = 0; o < outer; o++)
    {
        for (int32_t i = 0; i < inner; i++)
        {
            int32_t best = input[i];
            int32_t index = 0;
            for (int32_t r = 1; r < reduced; r++)
            {
                const int32_t code = input[r * inner + i];
                if ((largest != 0 ? code > best : code < best) || (last != 0 && code == best))
                {
                    best = code;
                    index = r;
                }
            }
            *output++ = (int8_t)(index - 128);
        }
        input += reduced * inner;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
