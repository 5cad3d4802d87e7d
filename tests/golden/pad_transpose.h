/*
 * pad_transpose: an int8 neural network. Generated; change the model and generate again.
 * model: pad_transpose.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 * rounding: double
 *
 * Use:
 *   1. fill pad_transpose_input_x() with int8 codes (quantise with pad_transpose_quantize_input_x());
 *   2. call pad_transpose_run(): 0 means success;
 *   3. read pad_transpose_output_y() (dequantise with pad_transpose_dequantize_output_y()).
 *
 * All working memory is pad_transpose_arena; nothing is allocated and nothing else is written. Not reentrant: one call
 * at a time. Inputs and outputs are row-major in the shape and layout of the ONNX model:
 *   input  x: int8[1, 2, 3, 4], real = 1.569e-02 * (code + 1); is overwritten by a run: fill it before each
 *   output y: int8[1, 7, 2, 6], real = 7.812e-03 * (code + 0)
 */
#ifndef PAD_TRANSPOSE_H
#define PAD_TRANSPOSE_H

#include <stdint.h>

/* Bytes of the arena; a larger value is allowed, a smaller one does not compile. */
#ifndef PAD_TRANSPOSE_ARENA_BYTES
#define PAD_TRANSPOSE_ARENA_BYTES 168
#endif

#define PAD_TRANSPOSE_INPUT_X_BYTES 24
#define PAD_TRANSPOSE_INPUT_X_SCALE 1.569e-02f
#define PAD_TRANSPOSE_INPUT_X_ZERO_POINT (-1)
#define PAD_TRANSPOSE_OUTPUT_Y_BYTES 84
#define PAD_TRANSPOSE_OUTPUT_Y_SCALE 7.8125e-03f
#define PAD_TRANSPOSE_OUTPUT_Y_ZERO_POINT (0)

#ifdef __cplusplus
extern "C"
{
#endif

extern uint8_t pad_transpose_arena[PAD_TRANSPOSE_ARENA_BYTES];

/* Run the network once. Returns 0, or the status of the kernel that refused its arguments. */
int32_t pad_transpose_run(void);

/* Where to write input x: 24 codes. */
static inline int8_t *pad_transpose_input_x(void)
{
    return (int8_t *)(pad_transpose_arena + 84);
}

/* Code of a real value of input x, rounded to nearest, saturated (NaN: the largest). */
static inline int8_t pad_transpose_quantize_input_x(float value)
{
    float scaled = value / PAD_TRANSPOSE_INPUT_X_SCALE;
    scaled = scaled < 1024.0f ? (scaled > -1024.0f ? scaled : -1024.0f) : 1024.0f;
    const int32_t code = (int32_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f) + PAD_TRANSPOSE_INPUT_X_ZERO_POINT;
    return (int8_t)(code > 127 ? 127 : (code < -128 ? -128 : code));
}

/* Where to read output y: 84 codes, valid until the next run or input. */
static inline const int8_t *pad_transpose_output_y(void)
{
    return (const int8_t *)(pad_transpose_arena + 84);
}

/* Real value of a code of output y. */
static inline float pad_transpose_dequantize_output_y(int8_t code)
{
    return PAD_TRANSPOSE_OUTPUT_Y_SCALE * (float)((int32_t)code - PAD_TRANSPOSE_OUTPUT_Y_ZERO_POINT);
}

#ifdef __cplusplus
}
#endif

#endif /* PAD_TRANSPOSE_H */
