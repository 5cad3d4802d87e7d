/*
 * One row of outputs of 3 x 3 windows for the DSP extension: void glue_depthwise_row_all(const glue_depthwise_row_job *)
 * and its forms with two rows. The C twins are in glue_depthwise_row_dsp.c.
 *
 * r0 column, r1 bytes from row to row, r2 output, r3 channels; r4-r6 the weights (left, middle) of each row, r7 (right,
 * right) of the first two, r8 right of the last; r9 a code; r10-r12 the sums of three windows: the column is the right
 * one, the middle one, the left one of them. On the stack, since no register is left:
 */
#include "glue_asm.h"

#if GLUE_ASM

#define BIAS 0
#define MULTIPLIER 4 /* and */
#define CONSTANT 8
#define X 12 /* of the next channel, and */
#define Y 16
#define STREAM 20
#define COLUMNS 24
#define ZERO 28
#define LEFT 32
#define RIGHT 36
#define CHANNELS 40 /* still to do */
#define FRAME 44

#define SHIFT 11 /* GLUE_DEPTHWISE_SHIFT */

    .syntax unified
    .thumb

/* The code of a row that is there, by number. */
.macro load number
.if \number == 0
    ldrsb r9, [r0]
.elseif \number == 1
    ldrsb r9, [r0, r1]
.else
    ldrsb r9, [r0, r1, lsl #1]
.endif
.endm

.macro add_left row, to, sum
.if \row == 0
    smlabb \to, r9, r4, \sum
.elseif \row == 1
    smlabb \to, r9, r5, \sum
.else
    smlabb \to, r9, r6, \sum
.endif
.endm

.macro add_middle row, sum
.if \row == 0
    smlabt \sum, r9, r4, \sum
.elseif \row == 1
    smlabt \sum, r9, r5, \sum
.else
    smlabt \sum, r9, r6, \sum
.endif
.endm

.macro add_right row, sum
.if \row == 0
    smlabb \sum, r9, r7, \sum
.elseif \row == 1
    smlabt \sum, r9, r7, \sum
.else
    smlabb \sum, r9, r8, \sum
.endif
.endm

/* A row of padding: all its taps go to the bias in r10. */
.macro missing row
    ldr r9, [sp, #ZERO]
    add_left \row, r10, r10
    add_middle \row, r10
    add_right \row, r10
.endm

.macro first_column number, row
    load \number
    add_left \row, r11, r11
.endm

.macro second_column number, row
    load \number
    add_middle \row, r11
    add_left \row, r12, r12
.endm

.macro column number, row
    load \number
    add_right \row, r10
    add_middle \row, r11
    add_left \row, r12, r12
.endm

/* The sum in r10 is complete. */
.macro finish
    ldr r9, [sp, #MULTIPLIER]
    smmul r10, r10, r9
    ldr r9, [sp, #CONSTANT]
    add r10, r10, r9
    ssat r10, #8, r10, asr #SHIFT
    strb r10, [r2]
    add r2, r2, r3
.endm

/* What is done for each of the rows that are there; first, last: of the kernel. */
.macro rows what, first, last
    \what 0, \first
    \what 1, \first + 1
.if \last - \first == 2
    \what 2, \first + 2
.endif
.endm

.macro body name, first, last
    .section .text.\name, "ax", %progbits
    .align 2
    .global \name
    .type \name, %function
\name:
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    ldm r0, {r4-r12}
    strd r4, r5, [sp, #X]
    str r6, [sp, #STREAM]
    mov r1, r7
    mov r3, r8
    str r8, [sp, #CHANNELS]
    str r9, [sp, #COLUMNS]
    str r10, [sp, #ZERO]
    strd r11, r12, [sp, #LEFT]
1:
    ldr r9, [sp, #STREAM]
    ldm r9!, {r4-r8, r10-r12}
    str r9, [sp, #STREAM]
    strd r11, r12, [sp, #MULTIPLIER]
.if \first == 1
    missing 0
.endif
.if \last == 1
    missing 2
.endif
    str r10, [sp, #BIAS]
    ldrd r0, r2, [sp, #X]
    add r9, r0, #1
    add r12, r2, #1
    strd r9, r12, [sp, #X]
    ldr r9, [sp, #LEFT]
    mov r11, r10
    mov r12, r10
    cmp r9, #0
    beq 2f
    ldr r9, [sp, #ZERO]
    add_left \first, r11, r11
    add_left \first + 1, r11, r11
.if \last - \first == 2
    add_left 2, r11, r11
.endif
    b 3f
2:
    rows first_column, \first, \last
    add r0, r0, r3
3:
    rows second_column, \first, \last
    add r0, r0, r3
    ldr lr, [sp, #COLUMNS]
4:
    mov r10, r11
    mov r11, r12
    ldr r12, [sp, #BIAS]
    rows column, \first, \last
    add r0, r0, r3
    finish
    subs lr, lr, #1
    bne 4b
    ldr r9, [sp, #RIGHT]
    cmp r9, #0
    beq 5f
    ldr r9, [sp, #ZERO]
    add_right \first, r11
    add_right \first + 1, r11
.if \last - \first == 2
    add_right 2, r11
.endif
    mov r10, r11
    finish
5:
    ldr r9, [sp, #CHANNELS]
    subs r9, r9, #1
    str r9, [sp, #CHANNELS]
    bne 1b
    add sp, sp, #FRAME
    pop {r4-r11, pc}
    .size \name, . - \name
.endm

    body glue_depthwise_row_all, 0, 2
    body glue_depthwise_row_last, 1, 2
    body glue_depthwise_row_first, 0, 1

#endif
