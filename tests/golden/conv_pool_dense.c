/*
 * conv_pool_dense: one function per layer, called in order. Generated; change the model and generate again.
 * model: conv_pool_dense.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 * rounding: double
 */
#include "conv_pool_dense.h"

#include "conv_pool_dense_weights.h"
#include "glue.h"

#include <stddef.h>

#if GLUE_API_VERSION != 1
#error "conv_pool_dense.c was generated for another cmsis_glue: generate it again"
#endif

#if GLUE_SINGLE_ROUNDING != 0
#error "conv_pool_dense.c was generated for GLUE_SINGLE_ROUNDING=0: compile it and the kernels with that"
#endif

_Static_assert(CONV_POOL_DENSE_ARENA_BYTES >= 368, "CONV_POOL_DENSE_ARENA_BYTES must be at least 368");

/* Placement of the arena, e.g. __attribute__((aligned(16), section(".dtcm"))). */
#ifndef CONV_POOL_DENSE_ARENA_ATTRIBUTE
#define CONV_POOL_DENSE_ARENA_ATTRIBUTE __attribute__((aligned(16)))
#endif

CONV_POOL_DENSE_ARENA_ATTRIBUTE uint8_t conv_pool_dense_arena[CONV_POOL_DENSE_ARENA_BYTES];

/* Called before every layer and after the last: a profiler's or a debugger's entry. */
#ifdef ONNX2MCU_HARNESS
void onnx2mcu_mark(int32_t layer);
#define CONV_POOL_DENSE_LAYER_HOOK(layer) onnx2mcu_mark(layer)
#endif
#ifndef CONV_POOL_DENSE_LAYER_HOOK
#define CONV_POOL_DENSE_LAYER_HOOK(layer) ((void)0)
#endif

/* stem */
static arm_cmsis_nn_status layer_00_stem(void)
{
    static const int32_t dims[] = {64, 2};
    static const int32_t steps[] = {1, 64};
    return glue_strided_copy_s8((int8_t *)(conv_pool_dense_arena + 0) + 0, dims, steps, 2, 1, (int8_t *)(conv_pool_dense_arena + 144));
}

/* stem */
static arm_cmsis_nn_status layer_01_stem(void)
{
    static const glue_conv_dsp_params params = {
        .input = {1, 8, 8, 2},
        .output = {1, 8, 8, 4},
        .kernel = {.w = 3, .h = 3},
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 1, .h = 1},
        .dilation = {.w = 1, .h = 1},
        .steps = 9,
        .extra_count = 0,
        .edge = 60,
        .input_zero = -1,
        .output_zero = -128,
        .rectified = 1,
        .activation = {.min = -128, .max = 127},
        .single = NULL,
        .extra = NULL,
        .stream = conv_pool_dense_01_stream};
    return glue_conv_dsp(&params, (int8_t *)(conv_pool_dense_arena + 144), (int8_t *)(conv_pool_dense_arena + 0), conv_pool_dense_arena + 272);
}

/* pool */
static arm_cmsis_nn_status layer_02_pool(void)
{
    static const glue_pool_params params = {
        .input = {1, 8, 8, 4},
        .window = {.w = 2, .h = 2},
        .stride = {.w = 2, .h = 2},
        .padding = {.w = 0, .h = 0},
        .output = {.w = 4, .h = 4},
        .activation = {.min = -128, .max = 127},
        .input_zero = -128,
        .output_zero = -128,
        .table_size = 0,
        .multipliers = NULL,
        .shifts = NULL};
    return glue_max_pool_words_s8(&params, (int8_t *)(conv_pool_dense_arena + 0), (int8_t *)(conv_pool_dense_arena + 0));
}

/* depthwise */
static arm_cmsis_nn_status layer_03_depthwise(void)
{
    static const glue_depthwise_dsp_params params = {
        .images = 1,
        .channels = 4,
        .multiplier = 1,
        .lines = 4,
        .elements = 4,
        .line_step = 16,
        .element_step = 4,
        .image_step = 64,
        .output_lines = 4,
        .output_elements = 4,
        .output_line_step = 16,
        .output_element_step = 4,
        .kernel_lines = 3,
        .kernel_elements = 3,
        .line_stride = 1,
        .element_stride = 1,
        .line_dilation = 1,
        .line_padding = 1,
        .element_padding = 1,
        .band = 4,
        .pitch = 8,
        .input_zero = -128,
        .output_zero = -128,
        .rectified = 1,
        .activation = {.min = -128, .max = 127},
        .weights = conv_pool_dense_03_weights,
        .factors = conv_pool_dense_03_factors,
        .forms = conv_pool_dense_03_forms};
    return glue_depthwise_3x3_dsp(&params, (int8_t *)(conv_pool_dense_arena + 0), (int8_t *)(conv_pool_dense_arena + 0), conv_pool_dense_arena + 64);
}

/* average */
static arm_cmsis_nn_status layer_04_average(void)
{
    static const glue_pool_params params = {
        .input = {1, 4, 4, 4},
        .window = {.w = 2, .h = 2},
        .stride = {.w = 2, .h = 2},
        .padding = {.w = 0, .h = 0},
        .output = {.w = 2, .h = 2},
        .activation = {.min = -128, .max = 127},
        .input_zero = -128,
        .output_zero = -128,
        .table_size = 1,
        .multipliers = conv_pool_dense_04_multiplier,
        .shifts = conv_pool_dense_04_shift};
    return glue_avgpool_words_s8(&params, (int8_t *)(conv_pool_dense_arena + 0), (int8_t *)(conv_pool_dense_arena + 0));
}

/* dense */
static arm_cmsis_nn_status layer_05_dense(void)
{
    static const glue_dense_dsp_params params = {
        .depth = 16,
        .channels = 5,
        .extra_count = 0,
        .output_zero = 114,
        .activation = {.min = -128, .max = 127},
        .extra = NULL,
        .stream = conv_pool_dense_05_stream};
    return glue_dense_dsp(&params, (int8_t *)(conv_pool_dense_arena + 0), (int8_t *)(conv_pool_dense_arena + 0), NULL);
}

/* softmax */
static arm_cmsis_nn_status layer_06_softmax(void)
{
    arm_softmax_s8((int8_t *)(conv_pool_dense_arena + 0), 1, 5, 1352000000, 21, -992, (int8_t *)(conv_pool_dense_arena + 8));
    return ARM_CMSIS_NN_SUCCESS;
}

int32_t conv_pool_dense_run(void)
{
    arm_cmsis_nn_status status = ARM_CMSIS_NN_SUCCESS;
    CONV_POOL_DENSE_LAYER_HOOK(0);
    status = layer_00_stem();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONV_POOL_DENSE_LAYER_HOOK(1);
    status = layer_01_stem();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONV_POOL_DENSE_LAYER_HOOK(2);
    status = layer_02_pool();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONV_POOL_DENSE_LAYER_HOOK(3);
    status = layer_03_depthwise();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONV_POOL_DENSE_LAYER_HOOK(4);
    status = layer_04_average();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONV_POOL_DENSE_LAYER_HOOK(5);
    status = layer_05_dense();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONV_POOL_DENSE_LAYER_HOOK(6);
    status = layer_06_softmax();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONV_POOL_DENSE_LAYER_HOOK(7);
    return (int32_t)status;
}
