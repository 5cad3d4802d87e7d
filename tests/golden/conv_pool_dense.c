/*
 * conv_pool_dense: one function per layer, called in order. Generated; change the model and generate again.
 * model: conv_pool_dense.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 */
#include "conv_pool_dense.h"

#include "conv_pool_dense_weights.h"
#include "glue.h"

#include <stddef.h>

#if GLUE_API_VERSION != 1
#error "conv_pool_dense.c was generated for another cmsis_glue: generate it again"
#endif

_Static_assert(CONV_POOL_DENSE_ARENA_BYTES >= 276, "CONV_POOL_DENSE_ARENA_BYTES must be at least 276");

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
    return glue_strided_copy_s8((int8_t *)(conv_pool_dense_arena + 0) + 0, dims, steps, 2, 1, (int8_t *)(conv_pool_dense_arena + 148));
}

/* stem */
static arm_cmsis_nn_status layer_01_stem(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_conv_params params = {
        .input_offset = 1,
        .output_offset = -128,
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 1, .h = 1},
        .dilation = {.w = 1, .h = 1},
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(conv_pool_dense_01_multiplier), .shift = GLUE_CONST_TABLE(conv_pool_dense_01_shift)};
    const cmsis_nn_dims x_dims = {1, 8, 8, 2};
    const cmsis_nn_dims filter_dims = {4, 3, 3, 2};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 4};
    const cmsis_nn_dims y_dims = {1, 8, 8, 4};
    return arm_convolve_wrapper_s8(
        &ctx, &params, &quant,
        &x_dims, (int8_t *)(conv_pool_dense_arena + 148),
        &filter_dims, conv_pool_dense_01_weights,
        &bias_dims, conv_pool_dense_01_bias,
        &y_dims, (int8_t *)(conv_pool_dense_arena + 0));
}

/* pool */
static arm_cmsis_nn_status layer_02_pool(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_pool_params params = {
        .stride = {.w = 2, .h = 2},
        .padding = {.w = 0, .h = 0},
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_dims x_dims = {1, 8, 8, 4};
    const cmsis_nn_dims window_dims = {1, 2, 2, 1};
    const cmsis_nn_dims y_dims = {1, 4, 4, 4};
    return arm_max_pool_s8(&ctx, &params, &x_dims, (int8_t *)(conv_pool_dense_arena + 0), &window_dims, &y_dims, (int8_t *)(conv_pool_dense_arena + 0));
}

/* depthwise */
static arm_cmsis_nn_status layer_03_depthwise(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_dw_conv_params params = {
        .input_offset = 128,
        .output_offset = -128,
        .ch_mult = 1,
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 1, .h = 1},
        .dilation = {.w = 1, .h = 1},
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(conv_pool_dense_03_multiplier), .shift = GLUE_CONST_TABLE(conv_pool_dense_03_shift)};
    const cmsis_nn_dims x_dims = {1, 4, 4, 4};
    const cmsis_nn_dims filter_dims = {1, 3, 3, 4};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 4};
    const cmsis_nn_dims y_dims = {1, 4, 4, 4};
    return arm_depthwise_conv_wrapper_s8(
        &ctx, &params, &quant,
        &x_dims, (int8_t *)(conv_pool_dense_arena + 0),
        &filter_dims, conv_pool_dense_03_weights,
        &bias_dims, conv_pool_dense_03_bias,
        &y_dims, (int8_t *)(conv_pool_dense_arena + 64));
}

/* average */
static arm_cmsis_nn_status layer_04_average(void)
{
    const glue_avgpool_params params = {
        .input_offset = 128,
        .output_offset = -128,
        .stride = {.w = 2, .h = 2},
        .padding = {.w = 0, .h = 0},
        .padding_end = {.w = 0, .h = 0},
        .activation = {.min = -128, .max = 127},
        .count_include_pad = 0,
        .table_size = 1,
        .multipliers = conv_pool_dense_04_multiplier,
        .shifts = conv_pool_dense_04_shift};
    const cmsis_nn_dims x_dims = {1, 4, 4, 4};
    const cmsis_nn_dims window_dims = {1, 2, 2, 1};
    const cmsis_nn_dims y_dims = {1, 2, 2, 4};
    return glue_avgpool_s8(&params, &x_dims, (int8_t *)(conv_pool_dense_arena + 64), &window_dims, &y_dims, (int8_t *)(conv_pool_dense_arena + 0));
}

/* dense */
static arm_cmsis_nn_status layer_05_dense(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_fc_params params = {
        .input_offset = 128,
        .filter_offset = 0,
        .output_offset = 114,
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(conv_pool_dense_05_multiplier), .shift = GLUE_CONST_TABLE(conv_pool_dense_05_shift)};
    const cmsis_nn_dims x_dims = {1, 1, 1, 16};
    const cmsis_nn_dims filter_dims = {16, 1, 1, 5};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 5};
    const cmsis_nn_dims y_dims = {1, 1, 1, 5};
    return arm_fully_connected_per_channel_s8(&ctx, &params, &quant,
                                              &x_dims, (int8_t *)(conv_pool_dense_arena + 0),
                                              &filter_dims, conv_pool_dense_05_weights,
                                              &bias_dims, conv_pool_dense_05_bias,
                                              &y_dims, (int8_t *)(conv_pool_dense_arena + 16));
}

/* softmax */
static arm_cmsis_nn_status layer_06_softmax(void)
{
    arm_softmax_s8((int8_t *)(conv_pool_dense_arena + 16), 1, 5, 1352000000, 21, -992, (int8_t *)(conv_pool_dense_arena + 0));
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
