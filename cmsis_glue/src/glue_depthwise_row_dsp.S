/*
 * One row of outputs of 3 x 3 windows for the DSP extension: void glue_depthwise_row_all(const glue_depthwise_row *)
 * and its forms with two rows. The C twins are in glue_depthwise_row_dsp.c.
 *
 * r0 column, r1 bytes from row to row, r2 output, r3 channels; r4-r6 the left, middle and right weights of two rows, r7
 * (left, middle) of the third one, r8 its right one, and above it how many columns follow. r9, r10 codes; r11, r12 and lr
 * take turns as the sums of three windows: the column is the right one, the middle one, the left one of them. On the
 * stack, since no register is left:
 */
#include "glue_asm.h"

#if GLUE_ASM

#define BIAS 0
#define ZERO 4       /* twice, as halfwords */
#define MULTIPLIER 8 /* and */
#define CONSTANT 12
#define X 16 /* of the next channel, and */
#define Y 20
#define STREAM 24
#define COLUMNS 28  /* less one, in the upper half */
#define LEFT 32     /* where the first column begins, */
#define RIGHT 36    /* and what comes after the last one */
#define CHANNELS 40 /* still to do */
#define FRAME 44

#define SHIFT 11 /* GLUE_DEPTHWISE_SHIFT */

    .syntax unified
    .thumb

/* A row of padding: all its taps go to the bias in r10. */
.macro missing row
    ldr r9, [sp, #ZERO]
.if \row == 0
    smlabb r10, r9, r4, r10
    smlabb r10, r9, r5, r10
    smlabb r10, r9, r6, r10
.else
    smlabb r10, r9, r7, r10
    smlabt r10, r9, r7, r10
    smlabb r10, r9, r8, r10
.endif
.endm

/* The codes of two rows to r9, in the order of the weights, that of a third one to other. */
.macro load first, last, other
    ldrsb r9, [r0]
    ldrsb \other, [r0, r1]
.if \first == 1
    pkhbt r9, \other, r9, lsl #16
.else
    pkhbt r9, r9, \other, lsl #16
.endif
.if \last - \first == 2
    ldrsb \other, [r0, r1, lsl #1]
.endif
    add r0, r0, r3
.endm

/* The column is the left, the middle, the right one of a window. */
.macro add_left first, last, other, to, sum
    smlad \to, r9, r4, \sum
.if \last - \first == 2
    smlabb \to, \other, r7, \to
.endif
.endm

.macro add_middle first, last, other, sum
    smlad \sum, r9, r5, \sum
.if \last - \first == 2
    smlabt \sum, \other, r7, \sum
.endif
.endm

.macro add_right first, last, other, sum
    smlad \sum, r9, r6, \sum
.if \last - \first == 2
    smlabb \sum, \other, r8, \sum
.endif
.endm

.macro finish sum
    ldrd r9, r10, [sp, #MULTIPLIER]
    smmla \sum, \sum, r9, r10
    ssat \sum, #8, \sum, asr #SHIFT
    strb \sum, [r2]
    add r2, r2, r3
.endm

/* Carry is clear after the last one. */
.macro column first, last, right, middle, left
    load \first, \last, r10
    ldr \left, [sp, #BIAS]
    add_right \first, \last, r10, \right
    add_middle \first, \last, r10, \middle
    add_left \first, \last, r10, \left, \left
    finish \right
    subs r8, r8, #0x10000
.endm

/* Where a column of padding, or another one, is taken. */
.macro jump offset, padding, none
    ldr r9, [sp, #\offset]
    adr r10, \none
    cmp r9, #0
    it ne
    adrne r10, \padding
    orr r10, r10, #1
    str r10, [sp, #\offset]
.endm

.macro body name, first, last
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type \name, %function
    .thumb_func
\name:
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    ldm r0, {r4-r12}
    strd r4, r5, [sp, #X]
    str r6, [sp, #STREAM]
    mov r1, r7
    mov r3, r8
    str r8, [sp, #CHANNELS]
    sub r9, r9, #1
    lsl r9, r9, #16
    str r9, [sp, #COLUMNS]
    pkhbt r10, r10, r10, lsl #16
    str r10, [sp, #ZERO]
    strd r11, r12, [sp, #LEFT]
    jump LEFT, 3f, 2f
    jump RIGHT, 8f, 9f
1:
    ldr r9, [sp, #STREAM]
    ldm r9!, {r4-r8, r10-r12}
    str r9, [sp, #STREAM]
    strd r11, r12, [sp, #MULTIPLIER]
.if \first == 1
    missing 0
    pkhbt r4, r7, r4
    pkhtb r5, r5, r7, asr #16
    pkhbt r6, r8, r6
.endif
.if \last == 1
    missing 2
.endif
    str r10, [sp, #BIAS]
    ldrd r0, r2, [sp, #X]
    add r9, r0, #1
    add r12, r2, #1
    strd r9, r12, [sp, #X]
    ldr r9, [sp, #COLUMNS]
    orr r8, r8, r9
    ldr pc, [sp, #LEFT]

    .balign 4
2:
    load \first, \last, r12
    add_left \first, \last, r12, r11, r10
    b 4f

    .balign 4
3:
    ldr r9, [sp, #ZERO]
    add_left \first, \last, r9, r11, r10
4:
    load \first, \last, lr
    add_middle \first, \last, lr, r11
    add_left \first, \last, lr, r12, r10
5:
    column \first, \last, r11, r12, lr
    blo 7f
    column \first, \last, r12, lr, r11
    blo 6f
    column \first, \last, lr, r11, r12
    bhs 5b
    mov lr, r11
6:
    mov r12, lr
7:
    ldr pc, [sp, #RIGHT]

    .balign 4
8:
    ldr r9, [sp, #ZERO]
    add_right \first, \last, r9, r12
    finish r12

    .balign 4
9:
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
