/*
 * residual_1d: an int8 neural network. Generated; change the model and generate again.
 * model: residual_1d.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 * rounding: double
 *
 * Use:
 *   1. fill residual_1d_input_x() with int8 codes (quantise with residual_1d_quantize_input_x());
 *   2. call residual_1d_run(): 0 means success;
 *   3. read residual_1d_output_y() (dequantise with residual_1d_dequantize_output_y()).
 *
 * All working memory is residual_1d_arena; nothing is allocated and nothing else is written. Not reentrant: one call
 * at a time. Inputs and outputs are row-major in the shape and layout of the ONNX model:
 *   input  x: int8[1, 3, 12], real = 1.569e-02 * (code + 1); is overwritten by a run: fill it before each
 *   output y: int8[1, 4], real = 1.428e-02 * (code + 96)
 */
#ifndef RESIDUAL_1D_H
#define RESIDUAL_1D_H

#include <stdint.h>

/* Bytes of the arena; a larger value is allowed, a smaller one does not compile. */
#ifndef RESIDUAL_1D_ARENA_BYTES
#define RESIDUAL_1D_ARENA_BYTES 240
#endif

#define RESIDUAL_1D_INPUT_X_BYTES 36
#define RESIDUAL_1D_INPUT_X_SCALE 1.569e-02f
#define RESIDUAL_1D_INPUT_X_ZERO_POINT (-1)
#define RESIDUAL_1D_OUTPUT_Y_BYTES 4
#define RESIDUAL_1D_OUTPUT_Y_SCALE 1.428e-02f
#define RESIDUAL_1D_OUTPUT_Y_ZERO_POINT (-96)

#ifdef __cplusplus
extern "C"
{
#endif

extern uint8_t residual_1d_arena[RESIDUAL_1D_ARENA_BYTES];

/* Run the network once. Returns 0, or the status of the kernel that refused its arguments. */
int32_t residual_1d_run(void);

/* Where to write input x: 36 codes. */
static inline int8_t *residual_1d_input_x(void)
{
    return (int8_t *)(residual_1d_arena + 0);
}

/* Code of a real value of input x, rounded to nearest, saturated (NaN: the largest). */
static inline int8_t residual_1d_quantize_input_x(float value)
{
    float scaled = value / RESIDUAL_1D_INPUT_X_SCALE;
    scaled = scaled < 1024.0f ? (scaled > -1024.0f ? scaled : -1024.0f) : 1024.0f;
    const int32_t code = (int32_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f) + RESIDUAL_1D_INPUT_X_ZERO_POINT;
    return (int8_t)(code > 127 ? 127 : (code < -128 ? -128 : code));
}

/* Where to read output y: 4 codes, valid until the next run or input. */
static inline const int8_t *residual_1d_output_y(void)
{
    return (const int8_t *)(residual_1d_arena + 0);
}

/* Real value of a code of output y. */
static inline float residual_1d_dequantize_output_y(int8_t code)
{
    return RESIDUAL_1D_OUTPUT_Y_SCALE * (float)((int32_t)code - RESIDUAL_1D_OUTPUT_Y_ZERO_POINT);
}

#ifdef __cplusplus
}
#endif

#endif /* RESIDUAL_1D_H */
