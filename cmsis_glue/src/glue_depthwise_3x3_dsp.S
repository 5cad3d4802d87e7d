/*
 * 3 x 3 windows, two outputs at a time, for the DSP extension: void glue_depthwise_3x3_body(const
 * glue_depthwise_band *), its form that moves by two elements, and the signed ones of both. The C twins are in
 * glue_depthwise_3x3_dsp.c.
 *
 * r0-r2 the three rows of the window, r3 output, r4-r9 the weights (w0 w1)(w1 w2) of each row, r10 r11 what was loaded
 * last, r12 lr the two sums. On the stack, since no register is left:
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_dsp_asm.h"

#define BIAS 0
#define LINES 4
#define MULTIPLIER 8 /* and */
#define CONSTANT 12  /* and */
#define ZERO 16
#define STEP 20 /* from output to output, and */
#define END 24  /* where r0 is after the last pair */
#define GAP 28  /* from the end of a line to the next one: of the rows, and */
#define Y_GAP 32 /* of the output */
#define ELEMENTS 36
#define NEXT_LINE 40
#define FRAME 48

#define SHIFT 11 /* GLUE_DEPTHWISE_SHIFT */

    .syntax unified
    .thumb

/* Three weights from r0 as (w0 w1)(w1 w2), shifted left by r12. */
.macro load_row w01, w12, offset
    ldrsb \w01, [r0, #\offset]
    ldrsb r10, [r0, #\offset + 1]
    ldrsb \w12, [r0, #\offset + 2]
    lsl \w01, \w01, r12
    lsl r10, r10, r12
    lsl \w12, \w12, r12
    pkhbt \w01, \w01, r10, lsl #16
    pkhbt \w12, r10, \w12, lsl #16
.endm

/* Fills registers and frame from the structure at r0. stride: of the elements. */
.macro enter stride
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    mov lr, r0
    ldrd r0, r12, [lr, #32] /* weights, factor */
    load_row r4, r5, 0
    load_row r6, r7, 3
    load_row r8, r9, 6

    ldm lr, {r0-r3, r10, r11} /* x, next row, next line, lines, elements, y */
    str r3, [sp, #LINES]
    str r10, [sp, #ELEMENTS]
    str r2, [sp, #NEXT_LINE]
    bic r10, r10, #1
    sub r3, r2, r10, lsl #\stride
    add r12, r0, r10, lsl #\stride
    str r3, [sp, #GAP]
    ldrd r2, r3, [lr, #24] /* output steps: element, line */
    strd r2, r12, [sp, #STEP]
    mls r3, r2, r10, r3
    str r3, [sp, #Y_GAP]
    ldr r12, [lr, #40]
    str r12, [sp, #BIAS]
    ldrd r2, r3, [lr, #44]
    strd r2, r3, [sp, #MULTIPLIER]
    ldr r12, [lr, #52]
    str r12, [sp, #ZERO]
    add r2, r0, r1, lsl #1
    add r1, r0, r1
    mov r3, r11
.endm

/* The odd output of a line, when there is one, and on to the next line at 1. */
.macro finish_line signed
    ldr r10, [sp, #ELEMENTS]
    lsls r10, r10, #31
    beq 4f
    ldr lr, [sp, #BIAS]
    ldrd r10, r11, [r0]
    smlad lr, r10, r4, lr
    smlabt lr, r11, r5, lr
    ldrd r10, r11, [r1]
    smlad lr, r10, r6, lr
    smlabt lr, r11, r7, lr
    ldrd r10, r11, [r2]
    smlad lr, r10, r8, lr
    smlabt lr, r11, r9, lr
.if \signed
    ldr r10, [sp, #MULTIPLIER]
    high_product lr, lr, r10
    ldrd r10, r11, [sp, #CONSTANT]
    away_from_zero lr
    smmlsr lr, lr, r10, r11
    ssat lr, #8, lr
.else
    ldrd r10, r11, [sp, #MULTIPLIER]
    smmla lr, lr, r10, r11
    ssat lr, #8, lr, asr #SHIFT
.endif
    strb lr, [r3]
4:
    ldrd r10, r11, [sp, #GAP]
    add r0, r0, r10
    add r1, r1, r10
    add r2, r2, r10
    add r3, r3, r11
    ldr r10, [sp, #END]
    ldr r11, [sp, #NEXT_LINE]
    add r10, r10, r11
    str r10, [sp, #END]
    ldr r11, [sp, #LINES]
    subs r11, r11, #1
    str r11, [sp, #LINES]
    bne 1b
    add sp, sp, #FRAME
    pop {r4-r11, pc}
.endm

/* Both sums to codes; r11 becomes END. */
.macro finish_pair signed
.if \signed
    ldr r10, [sp, #MULTIPLIER]
    high_product r12, r12, r10
    high_product lr, lr, r10
    ldrd r10, r11, [sp, #CONSTANT]
    away_from_zero r12
    away_from_zero lr
    smmlsr r12, r12, r10, r11
    smmlsr lr, lr, r10, r11
    ldrd r10, r11, [sp, #STEP]
    ssat r12, #8, r12
    ssat lr, #8, lr
.else
    ldrd r10, r11, [sp, #MULTIPLIER]
    smmla r12, r12, r10, r11
    smmla lr, lr, r10, r11
    ldrd r10, r11, [sp, #STEP]
    ssat r12, #8, r12, asr #SHIFT
    ssat lr, #8, lr, asr #SHIFT
.endif
    strb r12, [r3]
    strb lr, [r3, r10]
    add r3, r3, r10, lsl #1
.endm

.macro pair stride, signed
    ldr lr, [sp, #BIAS]
    row_\stride r0, r4, r5, lr
    row_\stride r1, r6, r7, r12
    row_\stride r2, r8, r9, r12
    finish_pair \signed
.endm

/* One row of two windows an element apart: (x0 x1)(x2 x3). */
.macro row_1 x, w01, w12, first
    ldrd r10, r11, [\x], #4
    smlad r12, r10, \w01, \first
    smlabt r12, r11, \w12, r12
    smlatb lr, r10, \w01, lr
    smlad lr, r11, \w12, lr
.endm

/* One row of two windows two elements apart: (x0 x1)(x2 x3)(x4 x5). */
.macro row_2 x, w01, w12, first
    ldrd r10, r11, [\x], #8
    smlad r12, r10, \w01, \first
    smlabt r12, r11, \w12, r12
    smlad lr, r11, \w01, lr
    ldr r10, [\x]
    smlabt lr, r10, \w12, lr
.endm

/* A function; stride: of the elements. */
.macro body name, stride, signed
    .section .text.\name, "ax", %progbits
    .align 2
    .global \name
    .type \name, %function
\name:
    enter \stride
1:
    ldr r11, [sp, #END]
    subs r10, r11, r0
    beq 3f
    lsls r10, r10, #30 - \stride /* sign: the number of pairs is odd */
    bmi 5f
2:
    pair \stride, \signed
5:
    pair \stride, \signed
    cmp r0, r11
    bne 2b
3:
    finish_line \signed
    .size \name, . - \name
.endm

    body glue_depthwise_3x3_body, 1, 0
    body glue_depthwise_3x3_signed_body, 1, 1
    body glue_depthwise_3x3_stride2_body, 2, 0
    body glue_depthwise_3x3_stride2_signed_body, 2, 1

#endif
