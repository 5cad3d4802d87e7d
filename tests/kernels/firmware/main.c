/*
 * Runs the cases of cases.h on an emulated core: calls the kernel with canaries around output and scratch and prints one
 * line per case: index, status, differing codes, canaries overwritten, scratch bytes the library asked for.
 */

#include "arm_nnfunctions.h"

#include "firmware.h"

#include <string.h>

#include "cases.h"

#define MARGIN 64
#define CANARY 0x5A

static int8_t output[MARGIN + OUTPUT_MAX + MARGIN];
static int8_t scratch[MARGIN + SCRATCH_MAX + MARGIN] __attribute__((aligned(16)));

extern uint32_t stack_top;
void reset(void);

static void semihost(int operation, const void *argument)
{
    register int r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

static void print_number(int32_t value)
{
    char text[16];
    char *end = text + sizeof text - 1;
    uint32_t magnitude = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    *end = '\0';
    do
    {
        *--end = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude != 0);
    if (value < 0)
    {
        *--end = '-';
    }
    semihost(4, end);
    semihost(4, " ");
}

static int32_t overwritten(const int8_t *memory, int32_t size)
{
    int32_t count = 0;
    for (int32_t i = 0; i < MARGIN; i++)
    {
        count += (memory[i] != CANARY) + (memory[MARGIN + size + i] != CANARY);
    }
    return count;
}

static int32_t call(const test_case *t, const cmsis_nn_context *ctx, int8_t *y, int32_t *size)
{
    const cmsis_nn_dims bias_dims = {1, 1, 1, t->out.c};
    const cmsis_nn_activation activation = {t->low, t->high};
    const cmsis_nn_per_channel_quant_params quant = {t->multiplier, t->shift};
    const cmsis_nn_pool_params pool = {t->stride, t->padding, activation};
    switch (t->kind)
    {
    case CONVOLVE:
    {
        const cmsis_nn_conv_params p = {t->in_offset, t->out_offset, t->stride, t->padding, t->dilation, activation};
        *size = arm_convolve_wrapper_s8_get_buffer_size(&p, &t->in, &t->filter, &t->out);
        return y == NULL ? 0
                         : arm_convolve_wrapper_s8(
                               ctx, &p, &quant, &t->in, t->x, &t->filter, t->w, &bias_dims, t->bias, &t->out, y);
    }
    case DEPTHWISE:
    {
        const cmsis_nn_dw_conv_params p = {
            t->in_offset, t->out_offset, t->factor, t->stride, t->padding, t->dilation, activation};
        *size = arm_depthwise_conv_wrapper_s8_get_buffer_size(&p, &t->in, &t->filter, &t->out);
        return y == NULL ? 0
                         : arm_depthwise_conv_wrapper_s8(
                               ctx, &p, &quant, &t->in, t->x, &t->filter, t->w, &bias_dims, t->bias, &t->out, y);
    }
    case AVERAGE:
        *size = arm_avgpool_s8_get_buffer_size(t->out.w, t->in.c);
        return y == NULL ? 0 : arm_avgpool_s8(ctx, &pool, &t->in, t->x, &t->filter, &t->out, y);
    default:
        *size = 0;
        return y == NULL ? 0 : arm_max_pool_s8(ctx, &pool, &t->in, t->x, &t->filter, &t->out, y);
    }
}

static void run(const test_case *t, int32_t index)
{
    int32_t asked = 0;
    (void)call(t, NULL, NULL, &asked);
    memset(output, CANARY, sizeof output);
    memset(scratch, CANARY, sizeof scratch);
    const cmsis_nn_context ctx = {scratch + MARGIN, t->scratch};
    int32_t ignored;
    const int32_t status = call(t, &ctx, output + MARGIN, &ignored);
    int32_t wrong = 0;
    for (int32_t i = 0; i < t->output_size; i++)
    {
        wrong += output[MARGIN + i] != t->expected[i];
    }
    print_number(index);
    print_number(status);
    print_number(wrong);
    print_number(overwritten(output, t->output_size) + overwritten(scratch, t->scratch));
    print_number(asked);
    semihost(4, "\n");
}

void reset(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* CPACR: floating point and MVE on */
    __asm volatile("dsb\n isb");
    for (int32_t i = 0; i < CASE_COUNT; i++)
    {
        run(&cases[i], i);
    }
    semihost(0x18, (const void *)0x20026); /* ADP_Stopped_ApplicationExit */
    for (;;)
    {
    }
}

static void fault(void)
{
    semihost(4, "fault\n");
    semihost(0x18, (const void *)0x20023);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, reset, fault, fault, fault, fault, fault};
