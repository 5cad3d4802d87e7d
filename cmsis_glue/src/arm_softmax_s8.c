#include "arm_nnfunctions.h"

#include "glue_softmax.h"

void arm_softmax_s8(const int8_t *input,
                    const int32_t num_rows,
                    const int32_t row_size,
                    const int32_t mult,
                    const int32_t shift,
                    const int32_t diff_min,
                    int8_t *output)
{
    glue_softmax(input, num_rows, row_size, mult, shift, diff_min, output);
}
