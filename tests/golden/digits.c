/*
 * digits: one function per layer, called in order. Generated; change the model and generate again.
 * model: model.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 */
#include "digits.h"

#include "digits_weights.h"
#include "glue.h"

#include <stddef.h>

#if GLUE_API_VERSION != 1
#error "digits.c was generated for another cmsis_glue: generate it again"
#endif

_Static_assert(DIGITS_ARENA_BYTES >= 2064, "DIGITS_ARENA_BYTES must be at least 2064");

/* Placement of the arena, e.g. __attribute__((aligned(16), section(".dtcm"))). */
#ifndef DIGITS_ARENA_ATTRIBUTE
#define DIGITS_ARENA_ATTRIBUTE __attribute__((aligned(16)))
#endif

DIGITS_ARENA_ATTRIBUTE uint8_t digits_arena[DIGITS_ARENA_BYTES];

/* Called before every layer and after the last: a profiler's or a debugger's entry. */
#ifdef ONNX2MCU_HARNESS
void onnx2mcu_mark(int32_t layer);
#define DIGITS_LAYER_HOOK(layer) onnx2mcu_mark(layer)
#endif
#ifndef DIGITS_LAYER_HOOK
#define DIGITS_LAYER_HOOK(layer) ((void)0)
#endif

/* /stem/stem.0/Conv */
static arm_cmsis_nn_status layer_00_stem_stem_0_conv(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_conv_params params = {
        .input_offset = 128,
        .output_offset = -128,
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 1, .h = 1},
        .dilation = {.w = 1, .h = 1},
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(digits_00_multiplier), .shift = GLUE_CONST_TABLE(digits_00_shift)};
    const cmsis_nn_dims x_dims = {1, 8, 8, 1};
    const cmsis_nn_dims filter_dims = {16, 3, 3, 1};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 16};
    const cmsis_nn_dims y_dims = {1, 8, 8, 16};
    return arm_convolve_wrapper_s8(
        &ctx, &params, &quant,
        &x_dims, (int8_t *)(digits_arena + 972),
        &filter_dims, digits_00_weights,
        &bias_dims, digits_00_bias,
        &y_dims, (int8_t *)(digits_arena + 0));
}

/* /depthwise1/depthwise1.0/Conv */
static arm_cmsis_nn_status layer_01_depthwise1_depthwise1_0_conv(void)
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
        .multiplier = GLUE_CONST_TABLE(digits_01_multiplier), .shift = GLUE_CONST_TABLE(digits_01_shift)};
    const cmsis_nn_dims x_dims = {1, 8, 8, 16};
    const cmsis_nn_dims filter_dims = {1, 3, 3, 16};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 16};
    const cmsis_nn_dims y_dims = {1, 8, 8, 16};
    return arm_depthwise_conv_wrapper_s8(
        &ctx, &params, &quant,
        &x_dims, (int8_t *)(digits_arena + 0),
        &filter_dims, digits_01_weights,
        &bias_dims, digits_01_bias,
        &y_dims, (int8_t *)(digits_arena + 1040));
}

/* /pointwise1/pointwise1.0/Conv */
static arm_cmsis_nn_status layer_02_pointwise1_pointwise1_0_conv(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_conv_params params = {
        .input_offset = 128,
        .output_offset = 19,
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 0, .h = 0},
        .dilation = {.w = 1, .h = 1},
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(digits_02_multiplier), .shift = GLUE_CONST_TABLE(digits_02_shift)};
    const cmsis_nn_dims x_dims = {1, 8, 8, 16};
    const cmsis_nn_dims filter_dims = {16, 1, 1, 16};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 16};
    const cmsis_nn_dims y_dims = {1, 8, 8, 16};
    return arm_convolve_wrapper_s8(
        &ctx, &params, &quant,
        &x_dims, (int8_t *)(digits_arena + 1040),
        &filter_dims, digits_02_weights,
        &bias_dims, digits_02_bias,
        &y_dims, (int8_t *)(digits_arena + 1024));
}

/* /Add */
static arm_cmsis_nn_status layer_03_add(void)
{
    return arm_elementwise_add_s8((int8_t *)(digits_arena + 0), (int8_t *)(digits_arena + 1024),
                                  128, 1162000000, -2,
                                  -19, 1073000000, 0, 20,
                                  (int8_t *)(digits_arena + 0), -128, 1191000000, -17,
                                  -128, 127, 1024);
}

/* /depthwise2/depthwise2.0/Conv */
static arm_cmsis_nn_status layer_04_depthwise2_depthwise2_0_conv(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_dw_conv_params params = {
        .input_offset = 128,
        .output_offset = -128,
        .ch_mult = 1,
        .stride = {.w = 2, .h = 2},
        .padding = {.w = 1, .h = 1},
        .dilation = {.w = 1, .h = 1},
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(digits_04_multiplier), .shift = GLUE_CONST_TABLE(digits_04_shift)};
    const cmsis_nn_dims x_dims = {1, 8, 8, 16};
    const cmsis_nn_dims filter_dims = {1, 3, 3, 16};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 16};
    const cmsis_nn_dims y_dims = {1, 4, 4, 16};
    return arm_depthwise_conv_wrapper_s8(
        &ctx, &params, &quant,
        &x_dims, (int8_t *)(digits_arena + 0),
        &filter_dims, digits_04_weights,
        &bias_dims, digits_04_bias,
        &y_dims, (int8_t *)(digits_arena + 0));
}

/* /pointwise2/pointwise2.0/Conv */
static arm_cmsis_nn_status layer_05_pointwise2_pointwise2_0_conv(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_conv_params params = {
        .input_offset = 128,
        .output_offset = -128,
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 0, .h = 0},
        .dilation = {.w = 1, .h = 1},
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(digits_05_multiplier), .shift = GLUE_CONST_TABLE(digits_05_shift)};
    const cmsis_nn_dims x_dims = {1, 4, 4, 16};
    const cmsis_nn_dims filter_dims = {32, 1, 1, 16};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 32};
    const cmsis_nn_dims y_dims = {1, 4, 4, 32};
    return arm_convolve_wrapper_s8(
        &ctx, &params, &quant,
        &x_dims, (int8_t *)(digits_arena + 0),
        &filter_dims, digits_05_weights,
        &bias_dims, digits_05_bias,
        &y_dims, (int8_t *)(digits_arena + 256));
}

/* /pool/GlobalAveragePool */
static arm_cmsis_nn_status layer_06_pool_globalaveragepool(void)
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
        .multipliers = digits_06_multiplier,
        .shifts = digits_06_shift};
    const cmsis_nn_dims x_dims = {1, 4, 4, 32};
    const cmsis_nn_dims window_dims = {1, 4, 4, 1};
    const cmsis_nn_dims y_dims = {1, 1, 1, 32};
    return glue_avgpool_s8(&params, &x_dims, (int8_t *)(digits_arena + 256), &window_dims, &y_dims, (int8_t *)(digits_arena + 0));
}

/* /dense/Gemm */
static arm_cmsis_nn_status layer_07_dense_gemm(void)
{
    const cmsis_nn_context ctx = {.buf = NULL, .size = 0};
    const cmsis_nn_fc_params params = {
        .input_offset = 128,
        .filter_offset = 0,
        .output_offset = 21,
        .activation = {.min = -128, .max = 127}};
    const cmsis_nn_per_channel_quant_params quant = {
        .multiplier = GLUE_CONST_TABLE(digits_07_multiplier), .shift = GLUE_CONST_TABLE(digits_07_shift)};
    const cmsis_nn_dims x_dims = {1, 1, 1, 32};
    const cmsis_nn_dims filter_dims = {32, 1, 1, 10};
    const cmsis_nn_dims bias_dims = {1, 1, 1, 10};
    const cmsis_nn_dims y_dims = {1, 1, 1, 10};
    return arm_fully_connected_per_channel_s8(&ctx, &params, &quant,
                                              &x_dims, (int8_t *)(digits_arena + 0),
                                              &filter_dims, digits_07_weights,
                                              &bias_dims, digits_07_bias,
                                              &y_dims, (int8_t *)(digits_arena + 32));
}

/* /Softmax */
static arm_cmsis_nn_status layer_08_softmax(void)
{
    arm_softmax_s8((int8_t *)(digits_arena + 32), 1, 10, 2046000000, 22, -496, (int8_t *)(digits_arena + 0));
    return ARM_CMSIS_NN_SUCCESS;
}

int32_t digits_run(void)
{
    arm_cmsis_nn_status status = ARM_CMSIS_NN_SUCCESS;
    DIGITS_LAYER_HOOK(0);
    status = layer_00_stem_stem_0_conv();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    DIGITS_LAYER_HOOK(1);
    status = layer_01_depthwise1_depthwise1_0_conv();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    DIGITS_LAYER_HOOK(2);
    status = layer_02_pointwise1_pointwise1_0_conv();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    DIGITS_LAYER_HOOK(3);
    status = layer_03_add();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    DIGITS_LAYER_HOOK(4);
    status = layer_04_depthwise2_depthwise2_0_conv();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    DIGITS_LAYER_HOOK(5);
    status = layer_05_pointwise2_pointwise2_0_conv();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    DIGITS_LAYER_HOOK(6);
    status = layer_06_pool_globalaveragepool();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    DIGITS_LAYER_HOOK(7);
    status = layer_07_dense_gemm();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    DIGITS_LAYER_HOOK(8);
    status = layer_08_softmax();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    DIGITS_LAYER_HOOK(9);
    return (int32_t)status;
}
