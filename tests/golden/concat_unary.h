/*
 * concat_unary: an int8 neural network. Generated; change the model and generate again.
 * model: concat_unary.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 * rounding: double
 *
 * Use:
 *   1. fill concat_unary_input_x() with int8 codes (quantise with concat_unary_quantize_input_x());
 *   2. call concat_unary_run(): 0 means success;
 *   3. read concat_unary_output_y() (dequantise with concat_unary_dequantize_output_y()).
 *
 * All working memory is concat_unary_arena; nothing is allocated and nothing else is written. Not reentrant: one call
 * at a time. Inputs and outputs are row-major in the shape and layout of the ONNX model:
 *   input  x: int8[1, 8], real = 1.544e-02 * (code + 1); is overwritten by a run: fill it before each
 *   output y: int8[1, 6], real = 6.381e-02 * (code - 127)
 */
#ifndef CONCAT_UNARY_H
#define CONCAT_UNARY_H

#include <stdint.h>

/* Bytes of the arena; a larger value is allowed, a smaller one does not compile. */
#ifndef CONCAT_UNARY_ARENA_BYTES
#define CONCAT_UNARY_ARENA_BYTES 32
#endif

#define CONCAT_UNARY_INPUT_X_BYTES 8
#define CONCAT_UNARY_INPUT_X_SCALE 1.544e-02f
#define CONCAT_UNARY_INPUT_X_ZERO_POINT (-1)
#define CONCAT_UNARY_OUTPUT_Y_BYTES 6
#define CONCAT_UNARY_OUTPUT_Y_SCALE 6.381e-02f
#define CONCAT_UNARY_OUTPUT_Y_ZERO_POINT (127)

#ifdef __cplusplus
extern "C"
{
#endif

extern uint8_t concat_unary_arena[CONCAT_UNARY_ARENA_BYTES];

/* Run the network once. Returns 0, or the status of the kernel that refused its arguments. */
int32_t concat_unary_run(void);

/* Where to write input x: 8 codes. */
static inline int8_t *concat_unary_input_x(void)
{
    return (int8_t *)(concat_unary_arena + 8);
}

/* Code of a real value of input x, rounded to nearest, saturated (NaN: the largest). */
static inline int8_t concat_unary_quantize_input_x(float value)
{
    float scaled = value / CONCAT_UNARY_INPUT_X_SCALE;
    scaled = scaled < 1024.0f ? (scaled > -1024.0f ? scaled : -1024.0f) : 1024.0f;
    const int32_t code = (int32_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f) + CONCAT_UNARY_INPUT_X_ZERO_POINT;
    return (int8_t)(code > 127 ? 127 : (code < -128 ? -128 : code));
}

/* Where to read output y: 6 codes, valid until the next run or input. */
static inline const int8_t *concat_unary_output_y(void)
{
    return (const int8_t *)(concat_unary_arena + 0);
}

/* Real value of a code of output y. */
static inline float concat_unary_dequantize_output_y(int8_t code)
{
    return CONCAT_UNARY_OUTPUT_Y_SCALE * (float)((int32_t)code - CONCAT_UNARY_OUTPUT_Y_ZERO_POINT);
}

#ifdef __cplusplus
}
#endif

#endif /* CONCAT_UNARY_H */
