/*
 * conv_pool_dense: an int8 neural network. Generated; change the model and generate again.
 * model: conv_pool_dense.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 * rounding: double
 *
 * Use:
 *   1. fill conv_pool_dense_input_x() with int8 codes (quantise with conv_pool_dense_quantize_input_x());
 *   2. call conv_pool_dense_run(): 0 means success;
 *   3. read conv_pool_dense_output_y() (dequantise with conv_pool_dense_dequantize_output_y()).
 *
 * All working memory is conv_pool_dense_arena; nothing is allocated and nothing else is written. Not reentrant: one call
 * at a time. Inputs and outputs are row-major in the shape and layout of the ONNX model:
 *   input  x: int8[1, 2, 8, 8], real = 1.569e-02 * (code + 1); is overwritten by a run: fill it before each
 *   output y: int8[1, 5], real = 3.906e-03 * (code + 128)
 */
#ifndef CONV_POOL_DENSE_H
#define CONV_POOL_DENSE_H

#include <stdint.h>

/* Bytes of the arena; a larger value is allowed, a smaller one does not compile. */
#ifndef CONV_POOL_DENSE_ARENA_BYTES
#define CONV_POOL_DENSE_ARENA_BYTES 368
#endif

#define CONV_POOL_DENSE_INPUT_X_BYTES 128
#define CONV_POOL_DENSE_INPUT_X_SCALE 1.569e-02f
#define CONV_POOL_DENSE_INPUT_X_ZERO_POINT (-1)
#define CONV_POOL_DENSE_OUTPUT_Y_BYTES 5
#define CONV_POOL_DENSE_OUTPUT_Y_SCALE 3.906e-03f
#define CONV_POOL_DENSE_OUTPUT_Y_ZERO_POINT (-128)

#ifdef __cplusplus
extern "C"
{
#endif

extern uint8_t conv_pool_dense_arena[CONV_POOL_DENSE_ARENA_BYTES];

/* Run the network once. Returns 0, or the status of the kernel that refused its arguments. */
int32_t conv_pool_dense_run(void);

/* Where to write input x: 128 codes. */
static inline int8_t *conv_pool_dense_input_x(void)
{
    return (int8_t *)(conv_pool_dense_arena + 0);
}

/* Code of a real value of input x, rounded to nearest, saturated (NaN: the largest). */
static inline int8_t conv_pool_dense_quantize_input_x(float value)
{
    float scaled = value / CONV_POOL_DENSE_INPUT_X_SCALE;
    scaled = scaled < 1024.0f ? (scaled > -1024.0f ? scaled : -1024.0f) : 1024.0f;
    const int32_t code = (int32_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f) + CONV_POOL_DENSE_INPUT_X_ZERO_POINT;
    return (int8_t)(code > 127 ? 127 : (code < -128 ? -128 : code));
}

/* Where to read output y: 5 codes, valid until the next run or input. */
static inline const int8_t *conv_pool_dense_output_y(void)
{
    return (const int8_t *)(conv_pool_dense_arena + 8);
}

/* Real value of a code of output y. */
static inline float conv_pool_dense_dequantize_output_y(int8_t code)
{
    return CONV_POOL_DENSE_OUTPUT_Y_SCALE * (float)((int32_t)code - CONV_POOL_DENSE_OUTPUT_Y_ZERO_POINT);
}

#ifdef __cplusplus
}
#endif

#endif /* CONV_POOL_DENSE_H */
