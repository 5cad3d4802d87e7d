/* One call of a kernel and the codes it must give. */

#ifndef FIRMWARE_H
#define FIRMWARE_H

#include "arm_nnfunctions.h"

#include <stddef.h>

enum kind
{
    CONVOLVE,
    DEPTHWISE,
    AVERAGE,
    MAXIMUM,
};

typedef struct
{
    enum kind kind;
    int32_t in_offset, out_offset, factor, low, high;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_dims in, filter, out;
    const int8_t *x, *w;
    const int32_t *bias;
    int32_t *multiplier, *shift;
    const int8_t *expected;
    int32_t output_size, scratch;
} test_case;

#endif /* FIRMWARE_H */
