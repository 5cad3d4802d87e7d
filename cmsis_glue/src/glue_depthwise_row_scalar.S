/*
 * One row of outputs of 3x3 windows for Armv7-M: void glue_depthwise_row_all_scalar(const glue_depthwise_row *) and
 * its forms with two rows. The C form is in glue_depthwise_row_scalar.c.
 *
 * The window rolls along the row as in glue_depthwise_scalar_line.S: r0 column, r1 bytes from row to row, r2 from column
 * to output, r3 channels; r4-r6 take turns as the sums of three windows; r7-r9 are the middle weights, the outer ones
 * come from the stack in pairs; r10-r12 and lr are free to use.
 */
#include "glue_asm.h"

#if GLUE_ASM

/* On the stack; the bias is contained in the numbers. */
#define NUMBERS 0
#define OUTER 16
#define LAST 40 /* added to the last output */
#define ZERO 44
#define STREAM 48
#define DISTANCE 52 /* of the columns after the first two */
#define X_END 56
#define ENTRY 60
#define LEFT 64     /* where the first column begins, */
#define RIGHT 68    /* and what comes after the last one */
#define CHANNELS 72 /* still to do */
#define FRAME 80

    .syntax unified
    .thumb

    .macro  load row
    .if     \row == 0
    ldrsb   r10, [r0]
    .elseif \row == 1
    ldrsb   r10, [r0, r1]
    .else
    ldrsb   r10, [r0, r1, lsl #1]
    .endif
    .endm

    /* Weights of a row that is there, lr: the codes; sums of its outer ones in r4 and r5. */
    .macro  weights row, first
    ldrsb   r11, [lr, #3 * (\row)]
    ldrsb   r12, [lr, #3 * (\row) + 2]
    strd    r11, r12, [sp, #OUTER + 8 * (\row)]
    .if     \row == \first
    mov     r4, r11
    mov     r5, r12
    .else
    add     r4, r4, r11
    add     r5, r5, r12
    .endif
    .endm

    /* A row of padding: all its taps go to the sum in r4. */
    .macro  missing row
    ldrsb   r10, [lr, #3 * (\row)]
    ldrsb   r11, [lr, #3 * (\row) + 1]
    ldrsb   r12, [lr, #3 * (\row) + 2]
    add     r10, r10, r11
    add     r10, r10, r12
    ldr     r11, [sp, #ZERO]
    mla     r4, r10, r11, r4
    .endm

    .macro  multiply row, first, to, a, b
    .if     \row == \first
    mul     \to, \a, \b
    .else
    mla     \to, \a, \b, \to
    .endif
    .endm

    .macro  add_middle row, sum
    .if     \row == 0
    mla     \sum, r10, r7, \sum
    .elseif \row == 1
    mla     \sum, r10, r8, \sum
    .else
    mla     \sum, r10, r9, \sum
    .endif
    .endm

    .macro  first_column row, first
    load    \row - \first
    ldr     r11, [sp, #OUTER + 8 * (\row)]
    multiply \row, \first, r4, r10, r11
    .endm

    .macro  second_column row, first
    load    \row - \first
    ldr     r11, [sp, #OUTER + 8 * (\row)]
    add_middle \row, r4
    multiply \row, \first, r5, r10, r11
    .endm

    .macro  next_column row, first, now, next, new
    load    \row - \first
    ldrd    r11, r12, [sp, #OUTER + 8 * (\row)]
    multiply \row, \first, \new, r10, r11
    add_middle \row, \next
    mla     \now, r10, r12, \now
    .endm

    .macro  output sum
    ldm     sp, {r10, r11, r12, lr}
    smlal   r11, r12, \sum, r10
    asr     r12, r12, lr
    ssat    r12, #8, r12
    strb    r12, [r0, r2]
    .endm

    /* What is done for each of the rows that are there. */
    .macro  rows what, first, last, arguments:vararg
    \what   \first, \first, \arguments
    \what   \first + 1, \first, \arguments
    .if     \last - \first == 2
    \what   2, \first, \arguments
    .endif
    .endm

    .macro  rows_alone what, first, last
    \what   \first, \first
    \what   \first + 1, \first
    .if     \last - \first == 2
    \what   2, \first
    .endif
    .endm

    .macro  column first, last, now, next, new
    rows    next_column, \first, \last, \now, \next, \new
    output  \now
    add     r0, r0, r3
    .endm

    /* Where a column of padding, or another one, is taken. */
    .macro  jump offset, padding, none
    ldr     r9, [sp, #\offset]
    adr     r10, \none
    cmp     r9, #0
    it      ne
    adrne   r10, \padding
    orr     r10, r10, #1
    str     r10, [sp, #\offset]
    .endm

    /* Rows [first, last] of the kernel are there. */
    .macro  body name, first, last
    .section .text.\name, "ax", %progbits
    .p2align 2
    .global \name
    .type   \name, %function
    .thumb_func
\name:
    push    {r3-r11, lr}
    sub     sp, sp, #FRAME
    ldm     r0, {r4-r12} /* x, y, stream, row_step, channels, columns, zero, left, right */
    str     r6, [sp, #STREAM]
    mov     r0, r4
    mov     r1, r7
    mov     r3, r8
    str     r8, [sp, #CHANNELS]
    strd    r11, r12, [sp, #LEFT]
    str     r10, [sp, #ZERO]
    sub     r2, r5, r4
    rsb     r11, r11, #2
    mls     r2, r11, r3, r2
    mov     r4, #3
    udiv    r5, r9, r4
    mls     r5, r5, r4, r9 /* outputs of the first, incomplete round */
    mul     r9, r9, r3
    str     r9, [sp, #DISTANCE]
    adr     r10, 10f
    cmp     r5, #1
    it      eq
    adreq   r10, 11f
    it      hi
    adrhi   r10, 12f
    orr     r10, r10, #1
    str     r10, [sp, #ENTRY]
    jump    LEFT, 3f, 2f
    jump    RIGHT, 8f, 9f

1:
    ldr     lr, [sp, #STREAM]
    ldm     lr!, {r4-r9} /* folded bias, bias, numbers */
    .if     \first == 1
    missing 0
    .endif
    .if     \last == 1
    missing 2
    .endif
    smlal   r7, r8, r4, r6
    stm     sp, {r6-r9}
    rows_alone weights, \first, \last
    .if     \first == 0
    ldrsb   r7, [lr, #1]
    .endif
    ldrsb   r8, [lr, #4]
    .if     \last == 2
    ldrsb   r9, [lr, #7]
    .endif
    add     lr, lr, #12
    str     lr, [sp, #STREAM]
    ldr     r10, [sp, #ZERO]
    mul     r4, r4, r10
    mul     r5, r5, r10
    str     r5, [sp, #LAST]
    ldr     pc, [sp, #LEFT]

    .p2align 2
2:
    rows_alone first_column, \first, \last
    add     r0, r0, r3

    .p2align 2
3:
    rows_alone second_column, \first, \last
    add     r0, r0, r3
    ldr     r10, [sp, #DISTANCE]
    add     r10, r10, r0
    str     r10, [sp, #X_END]
    ldr     pc, [sp, #ENTRY]

    /* Three columns at a time, entered so that the last one ends a round; r4 and r5 are the sums on entry and exit. */
    .p2align 2
11:
    mov     r6, r4
    mov     r4, r5
    b       6f
    .p2align 2
12:
    mov     r6, r5
    mov     r5, r4
    b       5f
    .p2align 2
10:
    column  \first, \last, r4, r5, r6
5:
    column  \first, \last, r5, r6, r4
6:
    column  \first, \last, r6, r4, r5
    ldr     r10, [sp, #X_END]
    cmp     r0, r10
    bne     10b
    ldr     pc, [sp, #RIGHT]

    .p2align 2
8:
    ldr     r10, [sp, #LAST]
    add     r4, r4, r10
    output  r4

    .p2align 2
9:
    sub     r0, r0, r1
    add     r0, r0, #1
    ldr     r10, [sp, #CHANNELS]
    subs    r10, r10, #1
    str     r10, [sp, #CHANNELS]
    bne     1b
    add     sp, sp, #FRAME
    pop     {r3-r11, pc}
    .size   \name, . - \name
    .endm

    body    glue_depthwise_row_all_scalar, 0, 2
    body    glue_depthwise_row_last_scalar, 1, 2
    body    glue_depthwise_row_first_scalar, 0, 1

#endif /* GLUE_ASM */
