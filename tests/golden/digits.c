/*
 * digits: one function per layer, called in order. Generated; change the model and generate again.
 * model: model.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 * rounding: double
 */
#include "digits.h"

#include "digits_weights.h"
#include "glue.h"

#include <stddef.h>

#if GLUE_API_VERSION != 1
#error "digits.c was generated for another cmsis_glue: generate it again"
#endif

#if GLUE_SINGLE_ROUNDING != 0
#error "digits.c was generated for GLUE_SINGLE_ROUNDING=0: compile it and the kernels with that"
#endif

_Static_assert(DIGITS_ARENA_BYTES >= 2288, "DIGITS_ARENA_BYTES must be at least 2288");

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
    static const glue_conv_dsp_params params = {
        .input = {1, 8, 8, 1},
        .output = {1, 8, 8, 16},
        .kernel = {.w = 3, .h = 3},
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 1, .h = 1},
        .dilation = {.w = 1, .h = 1},
        .steps = 6,
        .extra_count = 0,
        .edge = 48,
        .input_zero = -128,
        .output_zero = -128,
        .rectified = 1,
        .activation = {.min = -128, .max = 127},
        .single = NULL,
        .extra = NULL,
        .stream = digits_00_stream};
    return glue_conv_dsp(&params, (int8_t *)(digits_arena + 940), (int8_t *)(digits_arena + 0), digits_arena + 1024);
}

/* /depthwise1/depthwise1.0/Conv */
static arm_cmsis_nn_status layer_01_depthwise1_depthwise1_0_conv(void)
{
    static const glue_depthwise_dsp_params params = {
        .images = 1,
        .channels = 16,
        .multiplier = 1,
        .lines = 8,
        .elements = 8,
        .line_step = 128,
        .element_step = 16,
        .image_step = 1024,
        .output_lines = 8,
        .output_elements = 8,
        .output_line_step = 128,
        .output_element_step = 16,
        .kernel_lines = 3,
        .kernel_elements = 3,
        .line_stride = 1,
        .element_stride = 1,
        .line_dilation = 1,
        .line_padding = 1,
        .element_padding = 1,
        .band = 8,
        .pitch = 12,
        .input_zero = -128,
        .output_zero = -128,
        .rectified = 1,
        .activation = {.min = -128, .max = 127},
        .weights = digits_01_weights,
        .factors = digits_01_factors,
        .forms = digits_01_forms};
    return glue_depthwise_3x3_dsp(&params, (int8_t *)(digits_arena + 0), (int8_t *)(digits_arena + 1024), digits_arena + 2048);
}

/* /pointwise1/pointwise1.0/Conv */
static arm_cmsis_nn_status layer_02_pointwise1_pointwise1_0_conv(void)
{
    static const glue_conv_dsp_params params = {
        .input = {1, 8, 8, 16},
        .output = {1, 8, 8, 16},
        .kernel = {.w = 1, .h = 1},
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 0, .h = 0},
        .dilation = {.w = 1, .h = 1},
        .steps = 8,
        .extra_count = 0,
        .edge = 64,
        .input_zero = -128,
        .output_zero = 19,
        .rectified = 0,
        .activation = {.min = -128, .max = 127},
        .single = NULL,
        .extra = NULL,
        .stream = digits_02_stream};
    return glue_conv_dsp(&params, (int8_t *)(digits_arena + 1024), (int8_t *)(digits_arena + 1024), digits_arena + 2048);
}

/* /Add */
static arm_cmsis_nn_status layer_03_add(void)
{
    static const glue_add_table_params params = {
        .factor = 630145,
        .activation = {.min = -128, .max = 127},
        .table = digits_03_sums};
    return glue_add_table_s8(&params, (int8_t *)(digits_arena + 0), (int8_t *)(digits_arena + 1024),
                             (int8_t *)(digits_arena + 0), 1024);
}

/* /depthwise2/depthwise2.0/Conv */
static arm_cmsis_nn_status layer_04_depthwise2_depthwise2_0_conv(void)
{
    static const glue_depthwise_dsp_params params = {
        .images = 1,
        .channels = 16,
        .multiplier = 1,
        .lines = 8,
        .elements = 8,
        .line_step = 128,
        .element_step = 16,
        .image_step = 1024,
        .output_lines = 4,
        .output_elements = 4,
        .output_line_step = 64,
        .output_element_step = 16,
        .kernel_lines = 3,
        .kernel_elements = 3,
        .line_stride = 2,
        .element_stride = 2,
        .line_dilation = 1,
        .line_padding = 1,
        .element_padding = 1,
        .band = 4,
        .pitch = 12,
        .input_zero = -128,
        .output_zero = -128,
        .rectified = 1,
        .activation = {.min = -128, .max = 127},
        .weights = digits_04_weights,
        .factors = digits_04_factors,
        .forms = digits_04_forms};
    return glue_depthwise_3x3_stride2_dsp(&params, (int8_t *)(digits_arena + 0), (int8_t *)(digits_arena + 0), digits_arena + 1024);
}

/* /pointwise2/pointwise2.0/Conv */
static arm_cmsis_nn_status layer_05_pointwise2_pointwise2_0_conv(void)
{
    static const glue_conv_dsp_params params = {
        .input = {1, 4, 4, 16},
        .output = {1, 4, 4, 32},
        .kernel = {.w = 1, .h = 1},
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 0, .h = 0},
        .dilation = {.w = 1, .h = 1},
        .steps = 8,
        .extra_count = 0,
        .edge = 64,
        .input_zero = -128,
        .output_zero = -128,
        .rectified = 1,
        .activation = {.min = -128, .max = 127},
        .single = NULL,
        .extra = NULL,
        .stream = digits_05_stream};
    return glue_conv_dsp(&params, (int8_t *)(digits_arena + 0), (int8_t *)(digits_arena + 256), digits_arena + 768);
}

/* /pool/GlobalAveragePool */
static arm_cmsis_nn_status layer_06_pool_globalaveragepool(void)
{
    static const glue_pool_params params = {
        .input = {1, 4, 4, 32},
        .window = {.w = 4, .h = 4},
        .stride = {.w = 1, .h = 1},
        .padding = {.w = 0, .h = 0},
        .output = {.w = 1, .h = 1},
        .activation = {.min = -128, .max = 127},
        .input_zero = -128,
        .output_zero = -128,
        .table_size = 1,
        .multipliers = digits_06_multiplier,
        .shifts = digits_06_shift};
    return glue_avgpool_words_s8(&params, (int8_t *)(digits_arena + 256), (int8_t *)(digits_arena + 0));
}

/* /dense/Gemm */
static arm_cmsis_nn_status layer_07_dense_gemm(void)
{
    static const glue_dense_dsp_params params = {
        .depth = 32,
        .channels = 10,
        .extra_count = 0,
        .output_zero = 21,
        .activation = {.min = -128, .max = 127},
        .extra = NULL,
        .stream = digits_07_stream};
    return glue_dense_dsp(&params, (int8_t *)(digits_arena + 0), (int8_t *)(digits_arena + 32), NULL);
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
