/*
 * digits_parts: an int8 neural network. Generated; change the model and generate again.
 * model: model.onnx
 * board: stm32f746g-disco (ST Discovery, STM32F746NG, Cortex-M7 at 216 MHz)
 * tool: onnx2mcu
 * rounding: double
 *
 * Use:
 *   1. fill digits_parts_input_image() with int8 codes (quantise with digits_parts_quantize_input_image());
 *   2. call digits_parts_run(): 0 means success;
 *   3. read digits_parts_output_probabilities() (dequantise with digits_parts_dequantize_output_probabilities()).
 *
 * All working memory is digits_parts_arena and digits_parts_arena_2; nothing is allocated and nothing else is written.
 * Not reentrant: one call at a time. Inputs and outputs are row-major in the shape and layout of the ONNX model:
 *   input  image: int8[1, 1, 8, 8], real = 3.922e-03 * (code + 128); is overwritten by a run: fill it before each
 *   output probabilities: int8[1, 10], real = 3.906e-03 * (code + 128)
 */
#ifndef DIGITS_PARTS_H
#define DIGITS_PARTS_H

#include <stdint.h>

/* Bytes of part 1 of the arena, for the memory sram; a larger value is allowed, a smaller one does not compile. */
#ifndef DIGITS_PARTS_ARENA_BYTES
#define DIGITS_PARTS_ARENA_BYTES 1264
#endif

/* Bytes of part 2 of the arena, for the memory sdram; a larger value is allowed, a smaller one does not compile. */
#ifndef DIGITS_PARTS_ARENA_2_BYTES
#define DIGITS_PARTS_ARENA_2_BYTES 1024
#endif

#define DIGITS_PARTS_INPUT_IMAGE_BYTES 64
#define DIGITS_PARTS_INPUT_IMAGE_SCALE 3.922e-03f
#define DIGITS_PARTS_INPUT_IMAGE_ZERO_POINT (-128)
#define DIGITS_PARTS_OUTPUT_PROBABILITIES_BYTES 10
#define DIGITS_PARTS_OUTPUT_PROBABILITIES_SCALE 3.906e-03f
#define DIGITS_PARTS_OUTPUT_PROBABILITIES_ZERO_POINT (-128)

#ifdef __cplusplus
extern "C"
{
#endif

extern uint8_t digits_parts_arena[DIGITS_PARTS_ARENA_BYTES];
extern uint8_t digits_parts_arena_2[DIGITS_PARTS_ARENA_2_BYTES];

/* Run the network once. Returns 0, or the status of the kernel that refused its arguments. */
int32_t digits_parts_run(void);

/* Where to write input image: 64 codes. */
static inline int8_t *digits_parts_input_image(void)
{
    return (int8_t *)(digits_parts_arena + 940);
}

/* Code of a real value of input image, rounded to nearest, saturated (NaN: the largest). */
static inline int8_t digits_parts_quantize_input_image(float value)
{
    float scaled = value / DIGITS_PARTS_INPUT_IMAGE_SCALE;
    scaled = scaled < 1024.0f ? (scaled > -1024.0f ? scaled : -1024.0f) : 1024.0f;
    const int32_t code = (int32_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f) + DIGITS_PARTS_INPUT_IMAGE_ZERO_POINT;
    return (int8_t)(code > 127 ? 127 : (code < -128 ? -128 : code));
}

/* Where to read output probabilities: 10 codes, valid until the next run or input. */
static inline const int8_t *digits_parts_output_probabilities(void)
{
    return (const int8_t *)(digits_parts_arena + 0);
}

/* Real value of a code of output probabilities. */
static inline float digits_parts_dequantize_output_probabilities(int8_t code)
{
    return DIGITS_PARTS_OUTPUT_PROBABILITIES_SCALE * (float)((int32_t)code - DIGITS_PARTS_OUTPUT_PROBABILITIES_ZERO_POINT);
}

#ifdef __cplusplus
}
#endif

#endif /* DIGITS_PARTS_H */
