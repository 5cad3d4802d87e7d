/*
 * Lines of a 3x3 depthwise convolution for Armv6-M; the C form is in glue_depthwise_scalar_roll.h.
 *
 * The window rolls along the line: each column of three codes finishes one output, is the middle of the next and the
 * beginning of the one after. r0, r1, r2 are the beginnings of the three rows and r3 the place in them, r7 walks over
 * the outputs. r8 is the sum that comes next, r9 the one after, r11 the step, r12 the epilogue. Weights and numbers come
 * from the stack.
 */
#include "glue_asm.h"
#include "glue_depthwise_scalar_line.h"

#if GLUE_ASM

#include "glue_baseline_asm.h"

/* The caller's structure is copied to the stack; behind it: */
#define UPPER 116 /* halves of the multiplier */
#define LOWER 120
#define END 124 /* the place behind the last finished output's column */
#define FRAME 132

#define NUMBER(i) (LINES_NUMBERS + 4 * (i))
#define ZERO_POINT 112

    .macro  enter
    push    {r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    sub     sp, sp, #FRAME
    mov     r1, sp
    .rept   5
    ldm     r0!, {r2-r6}
    stm     r1!, {r2-r6}
    .endr
    ldm     r0!, {r2-r5}
    stm     r1!, {r2-r5}
    ldr     r0, [sp, #NUMBER(0)]
    split_multiplier
    str     r0, [sp, #UPPER]
    str     r4, [sp, #LOWER]
    ldr     r0, [sp, #LINES_FIRST]
    ldr     r1, [sp, #LINES_BIAS]
    subs    r0, r0, r1 /* the bias is added at the end */
    str     r0, [sp, #LINES_FIRST]
    ldr     r0, [sp, #LINES_STEP]
    mov     r11, r0
    ldr     r2, [sp, #LINES_COUNT]
    ldr     r3, [sp, #LINES_AFTER]
    subs    r2, r2, r3
    muls    r2, r0, r2
    str     r2, [sp, #LINES_COUNT] /* from here on the distance */
    ldr     r0, =handlers
    ldr     r1, [sp, #LINES_RECTIFIED]
    ldr     r2, [sp, #NUMBER(3)]
    cmp     r1, #0
    beq     1f
    adds    r0, r0, #4
    cmp     r2, #24
    bhi     1f
    adds    r0, r0, #4
1:
    ldr     r0, [r0]
    mov     r12, r0
    .endm

    .macro  leave
    add     sp, sp, #FRAME
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r4-r7, pc}
    .endm

    .macro  begin_line
    ldr     r0, [sp, #LINES_X]
    ldr     r1, [sp, #LINES_PITCH]
    adds    r2, r1, r1
    adds    r1, r0, r1
    adds    r2, r0, r2
    movs    r3, #0
    ldr     r7, [sp, #LINES_Y]
    .endm

    /* Moves to the next line; the flags tell whether there is one. */
    .macro  next_line
    ldr     r0, [sp, #LINES_X]
    ldr     r1, [sp, #LINES_X_LINE]
    adds    r0, r0, r1
    str     r0, [sp, #LINES_X]
    ldr     r0, [sp, #LINES_Y]
    ldr     r1, [sp, #LINES_Y_LINE]
    adds    r0, r0, r1
    str     r0, [sp, #LINES_Y]
    ldr     r0, [sp, #LINES_LINES]
    subs    r0, r0, #1
    str     r0, [sp, #LINES_LINES]
    .endm

    .macro  load row
    .if     \row == 0
    ldrsb   r4, [r0, r3]
    .elseif \row == 1
    ldrsb   r4, [r1, r3]
    .else
    ldrsb   r4, [r2, r3]
    .endif
    .endm

    /* sum += r4 * weight */
    .macro  product sum, weight
    ldr     r5, [sp, #\weight]
    muls    r5, r4, r5
    add     \sum, \sum, r5
    .endm

    /* r6 = or += r4 * the weight of the first column. */
    .macro  first_product row
    .if     \row == 0
    ldr     r6, [sp, #LINES_OUTER]
    muls    r6, r4, r6
    .else
    ldr     r5, [sp, #LINES_OUTER + 8 * \row]
    muls    r5, r4, r5
    adds    r6, r6, r5
    .endif
    .endm

    /* Finishes the last output, which misses its last column. */
    .macro  last_output
    ldr     r6, [sp, #LINES_LAST]
    mov     r5, r8
    adds    r5, r5, r6
    blx     r12
    strb    r5, [r7]
    .endm

    .section .text.glue_depthwise_baseline_lines, "ax", %progbits
    .p2align 2
    .global glue_depthwise_baseline_lines_1
    .type   glue_depthwise_baseline_lines_1, %function
    .thumb_func
glue_depthwise_baseline_lines_1:
    enter
lines_1:
    begin_line
    ldr     r6, [sp, #LINES_FIRST]
    ldr     r4, [sp, #LINES_BEFORE]
    cmp     r4, #0
    bne     1f
    .irp    row, 0, 1, 2
    load    \row
    first_product \row
    .endr
    add     r3, r3, r11
1:
    mov     r8, r6
    .irp    row, 0, 1, 2
    load    \row
    first_product \row
    product r8, LINES_MIDDLE + 4 * \row
    .endr
    mov     r9, r6
    add     r3, r3, r11
    ldr     r6, [sp, #LINES_COUNT]
    adds    r6, r6, r3
    str     r6, [sp, #END]
2:
    .irp    row, 0, 1, 2
    load    \row
    first_product \row
    product r9, LINES_MIDDLE + 4 * \row
    product r8, LINES_OUTER + 8 * \row + 4
    .endr
    mov     r5, r8
    mov     r8, r9
    mov     r9, r6
    blx     r12
    strb    r5, [r7]
    add     r7, r7, r11
    add     r3, r3, r11
    ldr     r6, [sp, #END]
    cmp     r3, r6
    bne     2b
    ldr     r6, [sp, #LINES_AFTER]
    cmp     r6, #0
    beq     3f
    last_output
3:
    next_line
    beq     4f
    b       lines_1
4:
    leave
    .size   glue_depthwise_baseline_lines_1, . - glue_depthwise_baseline_lines_1

    .ltorg
    .p2align 2
handlers:
    .word   signed_code + 1, slow_code + 1, rectified_code + 1

    /* r5 = the code of r5 + bias. May use r4 and r6. */
rectified_code:
    ldr     r6, [sp, #LINES_BIAS]
    adds    r5, r5, r6
    ble     1f
    ldr     r6, [sp, #NUMBER(1)]
    cmp     r5, r6
    bgt     2f
    ldr     r6, [sp, #LOWER]
    muls    r6, r5, r6
    lsrs    r6, r6, #15
    ldr     r4, [sp, #UPPER]
    muls    r5, r4, r5
    adds    r5, r5, r6
    ldr     r6, [sp, #NUMBER(2)]
    adds    r5, r5, r6
    ldr     r6, [sp, #NUMBER(3)]
    lsrs    r5, r5, r6
    subs    r5, r5, #128
    bx      lr
1:
    movs    r5, #128
    bx      lr
2:
    movs    r5, #127
    bx      lr

slow_code:
    ldr     r6, [sp, #LINES_BIAS]
    adds    r5, r5, r6
    push    {r0, r3, r7, lr}
    ldr     r0, [sp, #NUMBER(0) + 16]
    ldr     r3, [sp, #NUMBER(2) + 16]
    ldr     r7, [sp, #NUMBER(3) + 16]
    bl      1f
    pop     {r0, r3, r7, pc}
1:
    rectified_slowly

signed_code:
    ldr     r6, [sp, #LINES_BIAS]
    adds    r5, r5, r6
    push    {r0-r3, r7, lr}
    ldr     r0, [sp, #NUMBER(0) + 24]
    ldr     r2, [sp, #NUMBER(1) + 24]
    ldr     r1, [sp, #NUMBER(2) + 24]
    ldr     r7, [sp, #NUMBER(3) + 24]
    signed  r1, ZERO_POINT + 24
    pop     {r0-r3, r7, pc}

    .p2align 2
    .global glue_depthwise_baseline_lines_2
    .type   glue_depthwise_baseline_lines_2, %function
    .thumb_func
glue_depthwise_baseline_lines_2:
    enter
lines_2:
    begin_line
    ldr     r6, [sp, #LINES_FIRST]
    ldr     r4, [sp, #LINES_BEFORE]
    cmp     r4, #0
    bne     1f
    .irp    row, 0, 1, 2
    load    \row
    first_product \row
    .endr
    add     r3, r3, r11
1:
    mov     r8, r6
    ldr     r6, [sp, #LINES_COUNT]
    adds    r6, r6, r6
    adds    r6, r6, r3
    str     r6, [sp, #END]
2:
    .irp    row, 0, 1, 2
    load    \row
    product r8, LINES_MIDDLE + 4 * \row
    .endr
    add     r3, r3, r11
    .irp    row, 0, 1, 2
    load    \row
    first_product \row
    product r8, LINES_OUTER + 8 * \row + 4
    .endr
    add     r3, r3, r11
    mov     r5, r8
    mov     r8, r6
    blx     r12
    strb    r5, [r7]
    ldr     r6, [sp, #LINES_Y_STEP]
    adds    r7, r7, r6
    ldr     r6, [sp, #END]
    cmp     r3, r6
    bne     2b
    ldr     r6, [sp, #LINES_AFTER]
    cmp     r6, #0
    beq     3f
    .irp    row, 0, 1, 2
    load    \row
    product r8, LINES_MIDDLE + 4 * \row
    .endr
    last_output
3:
    next_line
    beq     4f
    b       lines_2
4:
    leave
    .ltorg
    .size   glue_depthwise_baseline_lines_2, . - glue_depthwise_baseline_lines_2

#endif /* GLUE_ASM */
