/*
 * concat_unary: one function per layer, called in order. Generated; change the model and generate again.
 * model: concat_unary.onnx
 * board: nucleo-f446re (ST Nucleo-64, STM32F446RE, Cortex-M4F at 180 MHz)
 * tool: onnx2mcu
 * rounding: double
 */
#include "concat_unary.h"

#include "concat_unary_weights.h"
#include "glue.h"

#include <stddef.h>

#if GLUE_API_VERSION != 1
#error "concat_unary.c was generated for another cmsis_glue: generate it again"
#endif

#if GLUE_SINGLE_ROUNDING != 0
#error "concat_unary.c was generated for GLUE_SINGLE_ROUNDING=0: compile it and the kernels with that"
#endif

_Static_assert(CONCAT_UNARY_ARENA_BYTES >= 32, "CONCAT_UNARY_ARENA_BYTES must be at least 32");

/* Placement of the arena, e.g. __attribute__((aligned(16), section(".dtcm"))). */
#ifndef CONCAT_UNARY_ARENA_ATTRIBUTE
#define CONCAT_UNARY_ARENA_ATTRIBUTE __attribute__((aligned(16)))
#endif

CONCAT_UNARY_ARENA_ATTRIBUTE uint8_t concat_unary_arena[CONCAT_UNARY_ARENA_BYTES];

/* Called before every layer and after the last: a profiler's or a debugger's entry. */
#ifdef ONNX2MCU_HARNESS
void onnx2mcu_mark(int32_t layer);
#define CONCAT_UNARY_LAYER_HOOK(layer) onnx2mcu_mark(layer)
#endif
#ifndef CONCAT_UNARY_LAYER_HOOK
#define CONCAT_UNARY_LAYER_HOOK(layer) ((void)0)
#endif

/* sigmoid */
static arm_cmsis_nn_status layer_00_sigmoid(void)
{
    return glue_lookup_s8((int8_t *)(concat_unary_arena + 8), concat_unary_00_table,
                          (int8_t *)(concat_unary_arena + 0), 8);
}

/* tanh */
static arm_cmsis_nn_status layer_01_tanh(void)
{
    return glue_lookup_s8((int8_t *)(concat_unary_arena + 8), concat_unary_01_table,
                          (int8_t *)(concat_unary_arena + 8), 8);
}

/* join */
static arm_cmsis_nn_status layer_02_join(void)
{
    return glue_lookup_s8((int8_t *)(concat_unary_arena + 0), concat_unary_02_table,
                          (int8_t *)(concat_unary_arena + 16), 8);
}

/* join */
static arm_cmsis_nn_status layer_03_join(void)
{
    return glue_lookup_s8((int8_t *)(concat_unary_arena + 8), concat_unary_03_table,
                          (int8_t *)(concat_unary_arena + 24), 8);
}

/* join */
static arm_cmsis_nn_status layer_04_join(void)
{
    arm_cmsis_nn_status status = ARM_CMSIS_NN_SUCCESS;
    if (status == ARM_CMSIS_NN_SUCCESS)
    {
        status = glue_copy_blocks_s8((int8_t *)(concat_unary_arena + 16), 8, (int8_t *)(concat_unary_arena + 0) + 0,
                                     16, 8, 1);
    }
    if (status == ARM_CMSIS_NN_SUCCESS)
    {
        status = glue_copy_blocks_s8((int8_t *)(concat_unary_arena + 24), 8, (int8_t *)(concat_unary_arena + 0) + 8,
                                     16, 8, 1);
    }
    return status;
}

/* dense */
static arm_cmsis_nn_status layer_05_dense(void)
{
    static const glue_dense_dsp_params params = {
        .depth = 16,
        .channels = 6,
        .extra_count = 0,
        .output_zero = -45,
        .activation = {.min = -128, .max = 127},
        .extra = NULL,
        .stream = concat_unary_05_stream};
    return glue_dense_dsp(&params, (int8_t *)(concat_unary_arena + 0), (int8_t *)(concat_unary_arena + 0), NULL);
}

/* gate */
static arm_cmsis_nn_status layer_06_gate(void)
{
    static const glue_dense_dsp_params params = {
        .depth = 6,
        .channels = 6,
        .extra_count = 0,
        .output_zero = 23,
        .activation = {.min = -128, .max = 127},
        .extra = NULL,
        .stream = concat_unary_06_stream};
    return glue_dense_dsp(&params, (int8_t *)(concat_unary_arena + 0), (int8_t *)(concat_unary_arena + 8), concat_unary_arena + 16);
}

/* product */
static arm_cmsis_nn_status layer_07_product(void)
{
    static const glue_mul_short_params params = {
        .a_zero = -45,
        .b_zero = 23,
        .multiplier = 1562000000,
        .constant = 21760000,
        .shift = 19,
        .sign = -8192,
        .activation = {.min = -128, .max = 127}};
    return glue_mul_short_s8(&params, (int8_t *)(concat_unary_arena + 0), (int8_t *)(concat_unary_arena + 8), (int8_t *)(concat_unary_arena + 8), 6);
}

/* difference */
static arm_cmsis_nn_status layer_08_difference(void)
{
    return glue_elementwise_sub_s8((int8_t *)(concat_unary_arena + 8), (int8_t *)(concat_unary_arena + 0),
                                   -41, 1073000000, 0,
                                   45, 1844000000, -2, 20,
                                   (int8_t *)(concat_unary_arena + 0), 38, 1569000000, -19,
                                   -128, 127, 6);
}

/* log softmax */
static arm_cmsis_nn_status layer_09_log_softmax(void)
{
    static const glue_log_softmax_params params = {
        .exp_table = concat_unary_09_exponential,
        .diff_multiplier = 1260000000,
        .log_multiplier = 177987,
        .shift = 30,
        .output_offset = 127,
        .activation = {.min = -128, .max = 127}};
    return glue_log_softmax_s8((int8_t *)(concat_unary_arena + 0), 1, 6, &params, (int8_t *)(concat_unary_arena + 0));
}

int32_t concat_unary_run(void)
{
    arm_cmsis_nn_status status = ARM_CMSIS_NN_SUCCESS;
    CONCAT_UNARY_LAYER_HOOK(0);
    status = layer_00_sigmoid();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(1);
    status = layer_01_tanh();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(2);
    status = layer_02_join();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(3);
    status = layer_03_join();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(4);
    status = layer_04_join();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(5);
    status = layer_05_dense();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(6);
    status = layer_06_gate();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(7);
    status = layer_07_product();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(8);
    status = layer_08_difference();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(9);
    status = layer_09_log_softmax();
    if (status != ARM_CMSIS_NN_SUCCESS)
    {
        return (int32_t)status;
    }
    CONCAT_UNARY_LAYER_HOOK(10);
    return (int32_t)status;
}
