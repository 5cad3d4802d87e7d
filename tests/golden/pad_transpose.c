/*
 * pad_transpose: one function per layer, called in order. Generated; change the model and generate again.
 * model: pad_transpose.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 * rounding: double
 */
#include "pad_transpose.h"

#include "pad_transpose_weights.h"
#include "glue.h"

#include <stddef.h>

#if GLUE_API_VERSION != 1
#error "pad_transpose.c was generated for another cmsis_glue: generate it again"
#endif

#if GLUE_SINGLE_ROUNDING != 0
#error "pad_transpose.c was generated for GLUE_SINGLE_ROUNDING=0: compile it and the kernels with that"
#endif

_Static_assert(PAD_TRANSPOSE_ARENA_BYTES >= 168, "PAD_TRANSPOSE_ARENA_BYTES must be at least 168");

/* Placement of the arena, e.g. __attribute__((aligned(16), section(".dtcm"))). */
#ifndef PAD_TRANSPOSE_ARENA_ATTRIBUTE
#define PAD_TRANSPOSE_ARENA_ATTRIBUTE __attribute__((aligned(16)))
#endif

PAD_TRANSPOSE_ARENA_ATTRIBUTE uint8_t pad_transpose_arena[PAD_TRANSPOSE_ARENA_BYTES];

/* Called before every layer and after the last: a profiler's or a debugger's entry. */
#ifdef ONNX2MCU_HARNESS
void onnx2mcu_mark(int32_t layer);
#define PAD_TRANSPOSE_LAYER_HOOK(layer) onnx2mcu_mark(layer)
#endif
#ifndef PAD_TRANSPOSE_LAYER_HOOK
#define PAD_TRANSPOSE_LAYER_HOOK(layer) ((void)0)
#endif

/* pad */
static arm_cmsis_nn_status layer_00_pad(void)
{
    static const cmsis_nn_dims x_dims = {1, 2, 3, 4};
    static const cmsis_nn_dims before = {0, 0, 1, 2};
    static const cmsis_nn_dims after = {0, 0, 2, 1};
    return glue_pad_s8((int8_t *)(pad_transpose_arena + 84), &x_dims, &before, &after, 31,
                       (int8_t *)(pad_transpose_arena + 0));
}

/* tanh */
static arm_cmsis_nn_status layer_01_tanh(void)
{
    return glue_lookup_s8((int8_t *)(pad_transpose_arena + 0), pad_transpose_01_table,
                          (int8_t *)(pad_transpose_arena + 0), 84);
}

/* turn */
static arm_cmsis_nn_status layer_02_turn(void)
{
    static const int32_t dims[] = {7, 12};
    static const int32_t steps[] = {1, 7};
    return glue_strided_copy_s8((int8_t *)(pad_transpose_arena + 0) + 0, dims, steps, 2, 1, (int8_t *)(pad_transpose_arena + 84));
}

int32_t pad_transpose_run(void)
{
    arm_cmsis_nn_status status = ARM_CMSIS_NN_SUCCESS;
    PAD_TRANSPOSE_LAYER_HOOK(0);
    status = layer_00_pad();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    PAD_TRANSPOSE_LAYER_HOOK(1);
    status = layer_01_tanh();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    PAD_TRANSPOSE_LAYER_HOOK(2);
    status = layer_02_turn();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    PAD_TRANSPOSE_LAYER_HOOK(3);
    return (int32_t)status;
}
