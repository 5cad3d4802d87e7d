/*
 * Kernels of five elements per line, two outputs at a time, for the DSP extension:
 * void glue_depthwise_5_lines(const glue_depthwise_band *) and its form that moves by two elements.
 * The C twins are in glue_depthwise_5_dsp.c.
 *
 * r0 row of the window, r1 from row to row, r2 weights, r3 rows left, r4-r11 what was loaded, r12 lr the two sums.
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_dsp_asm.h"

#define WEIGHTS 0 /* and */
#define ROWS 4
#define BIAS 8
#define MULTIPLIER 12 /* and */
#define CONSTANT 16   /* and */
#define ZERO 20
#define Y 24    /* of the pair, and */
#define STEP 28 /* from output to output */
#define X 32    /* of the pair, and */
#define LEFT 36 /* outputs of the line */
#define LINE_X 40 /* and */
#define LINE_Y 44
#define LINES 48
#define SIGNED 52
#define BAND 56
#define FRAME 64

#define SHIFT 11 /* GLUE_DEPTHWISE_SHIFT */

    .syntax unified
    .thumb

/* (x0 x1)(x2 x3)(x4 x5) times (w0 w1)(0 w0)(w2 w3)(w1 w2)(w4 0)(w3 w4) */
.macro row_1
    ldrd r4, r5, [r0]
    ldm r2!, {r6-r11}
    smlad r12, r4, r6, r12
    smlad lr, r4, r7, lr
    smlad r12, r5, r8, r12
    ldr r4, [r0, #8]
    smlad lr, r5, r9, lr
    smlad r12, r4, r10, r12
    smlad lr, r4, r11, lr
.endm

/* (x0 x1)(x2 x3)(x4 x5)(x6 x7) times (w0 w1)(w2 w3)(w4 0) */
.macro row_2
    ldm r0, {r4-r7}
    ldm r2!, {r8-r10}
    smlad r12, r4, r8, r12
    smlad lr, r5, r8, lr
    smlad r12, r5, r9, r12
    smlad lr, r6, r9, lr
    smlad r12, r6, r10, r12
    smlad lr, r7, r10, lr
.endm

.macro body name, stride
    .section .text.\name, "ax", %progbits
    .align 2
    .global \name
    .type \name, %function
\name:
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    str r0, [sp, #BAND]
    ldr r1, [r0, #4]
    ldm r0, {r2-r7} /* x, next row, next line, lines, elements, y */
    strd r2, r7, [sp, #LINE_X]
    str r5, [sp, #LINES]
    add r4, r0, #40
    ldm r4, {r4-r7} /* bias, multiplier, constant, zero */
    add r8, sp, #BIAS
    stm r8, {r4-r7}
    ldr r4, [r0, #24]
    str r4, [sp, #STEP]
    ldr r4, [r0, #60]
    str r4, [sp, #SIGNED]
    ldrd r4, r5, [r0, #68] /* spread weights, rows */
    strd r4, r5, [sp, #WEIGHTS]
1:
    ldrd r0, r4, [sp, #LINE_X]
    ldr r5, [sp, #BAND]
    ldr r6, [r5, #16]
    strd r0, r6, [sp, #X]
    str r4, [sp, #Y]
    ldr r6, [r5, #8]
    ldr r7, [r5, #28]
    add r6, r6, r0
    add r7, r7, r4
    strd r6, r7, [sp, #LINE_X]
2:
    ldrd r2, r3, [sp, #WEIGHTS]
    ldr r12, [sp, #BIAS]
    mov lr, r12
3:
    row_\stride
    add r0, r0, r1
    subs r3, r3, #1
    bne 3b

    ldr r6, [sp, #SIGNED]
    ldrd r4, r5, [sp, #MULTIPLIER]
    cbnz r6, 5f
    smmla r12, r12, r4, r5
    smmla lr, lr, r4, r5
    ssat r12, #8, r12, asr #SHIFT
    ssat lr, #8, lr, asr #SHIFT
4:
    ldrd r4, r5, [sp, #Y]
    ldrd r0, r6, [sp, #X]
    cmp r6, #1
    it eq
    moveq r5, #0 /* the odd output is written last */
    strb lr, [r4, r5]
    strb r12, [r4]
    add r4, r4, r5, lsl #1
    str r4, [sp, #Y]
    adds r0, r0, #4 * \stride
    subs r6, r6, #2
    strd r0, r6, [sp, #X]
    bgt 2b

    ldr r4, [sp, #LINES]
    subs r4, r4, #1
    str r4, [sp, #LINES]
    bne 1b
    add sp, sp, #FRAME
    pop {r4-r11, pc}
5:
    ldr r6, [sp, #ZERO]
    high_product r12, r12, r4
    high_product lr, lr, r4
    away_from_zero r12
    away_from_zero lr
    smmlsr r12, r12, r5, r6
    smmlsr lr, lr, r5, r6
    ssat r12, #8, r12
    ssat lr, #8, lr
    b 4b
    .size \name, . - \name
.endm

    body glue_depthwise_5_lines, 1
    body glue_depthwise_5_stride2_lines, 2

#endif
