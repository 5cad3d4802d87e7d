/*
 * residual_1d: one function per layer, called in order. Generated; change the model and generate again.
 * model: residual_1d.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 * rounding: double
 */
#include "residual_1d.h"

#include "residual_1d_weights.h"
#include "glue.h"

#include <stddef.h>

#if GLUE_API_VERSION != 1
#error "residual_1d.c was generated for another cmsis_glue: generate it again"
#endif

#if GLUE_SINGLE_ROUNDING != 0
#error "residual_1d.c was generated for GLUE_SINGLE_ROUNDING=0: compile it and the kernels with that"
#endif

_Static_assert(RESIDUAL_1D_ARENA_BYTES >= 240, "RESIDUAL_1D_ARENA_BYTES must be at least 240");

/* Placement of the arena, e.g. __attribute__((aligned(16), section(".dtcm"))). */
#ifndef RESIDUAL_1D_ARENA_ATTRIBUTE
#define RESIDUAL_1D_ARENA_ATTRIBUTE __attribute__((aligned(16)))
#endif

RESIDUAL_1D_ARENA_ATTRIBUTE uint8_t residual_1d_arena[RESIDUAL_1D_ARENA_BYTES];

/* Called before every layer and after the last: a profiler's or a debugger's entry. */
#ifdef ONNX2MCU_HARNESS
void onnx2mcu_mark(int32_t layer);
#define RESIDUAL_1D_LAYER_HOOK(layer) onnx2mcu_mark(layer)
#endif
#ifndef RESIDUAL_1D_LAYER_HOOK
#define RESIDUAL_1D_LAYER_HOOK(layer) ((void)0)
#endif

/* first */
static arm_cmsis_nn_status layer_00_first(void)
{
    static const int32_t dims[] = {12, 3};
    static const int32_t steps[] = {1, 12};
    return glue_strided_copy_s8((int8_t *)(residual_1d_arena + 0) + 0, dims, steps, 2, 1, (int8_t *)(residual_1d_arena + 36));
}

/* first */
static arm_cmsis_nn_status layer_01_first(void)
{
    static const glue_conv_dsp_params params = {
        .input = {1, 1, 12, 3},
        .output = {1, 1, 12, 6},
        .kernel = {.w = 3, .h = 1},
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 1, .h = 0},
        .dilation = {.w = 1, .h = 1},
        .steps = 5,
        .extra_count = 0,
        .edge = 44,
        .input_zero = -1,
        .output_zero = -128,
        .rectified = 1,
        .activation = {.min = -128, .max = 127},
        .single = NULL,
        .extra = NULL,
        .stream = residual_1d_01_stream};
    return glue_conv_dsp(&params, (int8_t *)(residual_1d_arena + 36), (int8_t *)(residual_1d_arena + 0), residual_1d_arena + 72);
}

/* second */
static arm_cmsis_nn_status layer_02_second(void)
{
    static const glue_conv_dsp_params params = {
        .input = {1, 1, 12, 6},
        .output = {1, 1, 12, 6},
        .kernel = {.w = 3, .h = 1},
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 2, .h = 0},
        .dilation = {.w = 2, .h = 1},
        .steps = 9,
        .extra_count = 0,
        .edge = 36,
        .input_zero = -128,
        .output_zero = 27,
        .rectified = 0,
        .activation = {.min = -128, .max = 127},
        .single = NULL,
        .extra = NULL,
        .stream = residual_1d_02_stream};
    return glue_conv_dsp(&params, (int8_t *)(residual_1d_arena + 0), (int8_t *)(residual_1d_arena + 72), residual_1d_arena + 144);
}

/* residual */
static arm_cmsis_nn_status layer_03_residual(void)
{
    static const glue_add_table_params params = {
        .factor = 620746,
        .activation = {.min = -128, .max = 127},
        .table = residual_1d_03_sums};
    return glue_add_table_s8(&params, (int8_t *)(residual_1d_arena + 0), (int8_t *)(residual_1d_arena + 72),
                             (int8_t *)(residual_1d_arena + 0), 72);
}

/* mean */
static arm_cmsis_nn_status layer_04_mean(void)
{
    static const glue_pool_params params = {
        .input = {1, 12, 1, 6},
        .window = {.w = 1, .h = 12},
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 0, .h = 0},
        .output = {.w = 1, .h = 1},
        .activation = {.min = -128, .max = 127},
        .input_zero = -128,
        .output_zero = -128,
        .table_size = 1,
        .multipliers = residual_1d_04_multiplier,
        .shifts = residual_1d_04_shift};
    return glue_avgpool_words_s8(&params, (int8_t *)(residual_1d_arena + 0), (int8_t *)(residual_1d_arena + 0));
}

/* dense */
static arm_cmsis_nn_status layer_05_dense(void)
{
    static const glue_dense_dsp_params params = {
        .depth = 6,
        .channels = 4,
        .extra_count = 0,
        .output_zero = -96,
        .activation = {.min = -128, .max = 127},
        .extra = NULL,
        .stream = residual_1d_05_stream};
    return glue_dense_dsp(&params, (int8_t *)(residual_1d_arena + 0), (int8_t *)(residual_1d_arena + 0), residual_1d_arena + 8);
}

int32_t residual_1d_run(void)
{
    arm_cmsis_nn_status status = ARM_CMSIS_NN_SUCCESS;
    RESIDUAL_1D_LAYER_HOOK(0);
    status = layer_00_first();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    RESIDUAL_1D_LAYER_HOOK(1);
    status = layer_01_first();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    RESIDUAL_1D_LAYER_HOOK(2);
    status = layer_02_second();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    RESIDUAL_1D_LAYER_HOOK(3);
    status = layer_03_residual();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    RESIDUAL_1D_LAYER_HOOK(4);
    status = layer_04_mean();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    RESIDUAL_1D_LAYER_HOOK(5);
    status = layer_05_dense();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    RESIDUAL_1D_LAYER_HOOK(6);
    return (int32_t)status;
}
