/*
 * residual_1d: one function per layer, called in order. Generated; change the model and generate again.
 * model: residual_1d.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 */
#include "residual_1d.h"

#include "residual_1d_weights.h"
#include "glue.h"

#include <stddef.h>

#if GLUE_API_VERSION != 1
#error "residual_1d.c was generated for another cmsis_glue: generate it again"
#endif

_Static_assert(RESIDUAL_1D_ARENA_BYTES >= 144, "RESIDUAL_1D_ARENA_BYTES must be at least 144");

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
    return glue_strided_copy_s8((int8_t *)(residual_1d_arena + 0) + 0, dims, steps, 2, 1, (int8_t *)(residual_1d_arena + 44));
}

/* first */
static arm_cmsis_nn_status layer_01_first(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_conv_params params = {
        .input_offset = 1,
        .output_offset = -128,
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 1, .h = 0},
        .dilation = {.w = 1, .h = 1},
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(residual_1d_01_multiplier), .shift = GLUE_CONST_TABLE(residual_1d_01_shift)};
    const cmsis_nn_dims x_dims = {1, 1, 12, 3};
    const cmsis_nn_dims filter_dims = {6, 1, 3, 3};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 6};
    const cmsis_nn_dims y_dims = {1, 1, 12, 6};
    return arm_convolve_wrapper_s8(
        &ctx, &params, &quant,
        &x_dims, (int8_t *)(residual_1d_arena + 44),
        &filter_dims, residual_1d_01_weights,
        &bias_dims, residual_1d_01_bias,
        &y_dims, (int8_t *)(residual_1d_arena + 0));
}

/* second */
static arm_cmsis_nn_status layer_02_second(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_conv_params params = {
        .input_offset = 128,
        .output_offset = 27,
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 2, .h = 0},
        .dilation = {.w = 2, .h = 1},
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(residual_1d_02_multiplier), .shift = GLUE_CONST_TABLE(residual_1d_02_shift)};
    const cmsis_nn_dims x_dims = {1, 1, 12, 6};
    const cmsis_nn_dims filter_dims = {6, 1, 3, 6};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 6};
    const cmsis_nn_dims y_dims = {1, 1, 12, 6};
    return arm_convolve_wrapper_s8(
        &ctx, &params, &quant,
        &x_dims, (int8_t *)(residual_1d_arena + 0),
        &filter_dims, residual_1d_02_weights,
        &bias_dims, residual_1d_02_bias,
        &y_dims, (int8_t *)(residual_1d_arena + 72));
}

/* residual */
static arm_cmsis_nn_status layer_03_residual(void)
{
    return arm_elementwise_add_s8((int8_t *)(residual_1d_arena + 0), (int8_t *)(residual_1d_arena + 72),
                                  128, 1306000000, -2,
                                  -27, 1073000000, 0, 20,
                                  (int8_t *)(residual_1d_arena + 0), -128, 2089000000, -18,
                                  -128, 127, 72);
}

/* mean */
static arm_cmsis_nn_status layer_04_mean(void)
{
    const glue_avgpool_params params = {
        .input_offset = 128,
        .output_offset = -128,
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 0, .h = 0},
        .padding_end = {.w = 0, .h = 0},
        .activation = {.min = -128, .max = 127},
        .count_include_pad = 0,
        .table_size = 1,
        .multipliers = residual_1d_04_multiplier,
        .shifts = residual_1d_04_shift};
    const cmsis_nn_dims x_dims = {1, 12, 1, 6};
    const cmsis_nn_dims window_dims = {1, 12, 1, 1};
    const cmsis_nn_dims y_dims = {1, 1, 1, 6};
    return glue_avgpool_s8(&params, &x_dims, (int8_t *)(residual_1d_arena + 0), &window_dims, &y_dims, (int8_t *)(residual_1d_arena + 0));
}

/* dense */
static arm_cmsis_nn_status layer_05_dense(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_fc_params params = {
        .input_offset = 128,
        .filter_offset = 0,
        .output_offset = -96,
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(residual_1d_05_multiplier), .shift = GLUE_CONST_TABLE(residual_1d_05_shift)};
    const cmsis_nn_dims x_dims = {1, 1, 1, 6};
    const cmsis_nn_dims filter_dims = {6, 1, 1, 4};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 4};
    const cmsis_nn_dims y_dims = {1, 1, 1, 4};
    return arm_fully_connected_per_channel_s8(&ctx, &params, &quant,
                                              &x_dims, (int8_t *)(residual_1d_arena + 0),
                                              &filter_dims, residual_1d_05_weights,
                                              &bias_dims, residual_1d_05_bias,
                                              &y_dims, (int8_t *)(residual_1d_arena + 8));
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
