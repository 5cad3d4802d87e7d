/*
 * Lines of a 3x3 depthwise convolution for Armv7-M; the C form is in glue_depthwise_scalar_line.c.
 *
 * The window rolls along the line: each column of three codes finishes one output, is the middle of the next and the
 * beginning of the one after. r0 walks over the line, r1 is the distance of its codes across the line, r3 along it;
 * r7-r9 are the middle weights, the others come from the stack in pairs. r10-r12 and lr are free to use.
 */
#include "glue_asm.h"
#include "glue_depthwise_scalar_line.h"

#if GLUE_ASM

/* The caller's structure is copied to the stack, so that its numbers lie at sp. Fields used again: */
#define X_END LINES_Y_STEP /* by stride 1, where it is the step */
#define ENTRY LINES_RECTIFIED

    .syntax unified
    .thumb

    .macro enter
    push    {r3-r11, lr}
    sub     sp, sp, #LINES_BYTES
    mov     r1, sp
    .rept   LINES_BYTES / 28
    ldm     r0!, {r2-r8}
    stm     r1!, {r2-r8}
    .endr
    ldr     r1, [sp, #LINES_PITCH]
    ldr     r3, [sp, #LINES_STEP]
    add     r7, sp, #LINES_MIDDLE
    ldm     r7, {r7, r8, r9}
    ldr     r10, [sp, #LINES_COUNT]
    ldr     r11, [sp, #LINES_AFTER]
    sub     r10, r10, r11
    .endm

    /* Moves to the next line, or leaves. */
    .macro  leave_or again
    ldr     r10, [sp, #LINES_LINES]
    subs    r10, r10, #1
    beq     1f
    str     r10, [sp, #LINES_LINES]
    ldrd    r10, r11, [sp, #LINES_X_LINE]
    ldrd    r4, r5, [sp, #LINES_X]
    add     r4, r4, r10
    add     r5, r5, r11
    strd    r4, r5, [sp, #LINES_X]
    b       \again
1:
    add     sp, sp, #LINES_BYTES
    pop     {r3-r11, pc}
    .endm

    .macro  load row
    .if     \row == 0
    ldrsb   r10, [r0]
    .elseif \row == 1
    ldrsb   r10, [r0, r1]
    .else
    ldrsb   r10, [r0, r1, lsl #1]
    .endif
    .endm

    .macro  first_column sum
    ldr     \sum, [sp, #LINES_BIAS]
    .irp    row, 0, 1, 2
    load    \row
    ldr     r11, [sp, #LINES_OUTER + 8 * \row]
    mla     \sum, r10, r11, \sum
    .endr
    add     r0, r0, r3
    .endm

    .macro  middle_column sum
    load    0
    mla     \sum, r10, r7, \sum
    load    1
    mla     \sum, r10, r8, \sum
    load    2
    mla     \sum, r10, r9, \sum
    .endm

    /* r12 = the code of a sum; kind 0: rectified, 1: signed. */
    .macro  code sum, kind
    ldm     sp, {r10, r11, r12, lr}
    .if     \kind
    lsl     \sum, \sum, #1
    .endif
    smlal   r11, r12, \sum, r10
    .if     \kind
    add     r12, r12, \sum, asr #31
    .endif
    asr     r12, r12, lr
    ssat    r12, #8, r12
    .endm

    /* A column that finishes `now`, is the middle of `next` and begins `new`. */
    .macro  column now, next, new, kind
    load    0
    ldrd    r11, r12, [sp, #LINES_OUTER]
    .if     \kind
    ldr     \new, [sp, #LINES_BIAS]
    mla     \new, r10, r11, \new
    .else
    mul     \new, r10, r11 /* the bias is in the constant */
    .endif
    mla     \next, r10, r7, \next
    mla     \now, r10, r12, \now
    load    1
    ldrd    r11, r12, [sp, #LINES_OUTER + 8]
    mla     \new, r10, r11, \new
    mla     \next, r10, r8, \next
    mla     \now, r10, r12, \now
    load    2
    ldrd    r11, r12, [sp, #LINES_OUTER + 16]
    mla     \new, r10, r11, \new
    mla     \next, r10, r9, \next
    mla     \now, r10, r12, \now
    code    \now, \kind
    strb    r12, [r0, r2]
    add     r0, r0, r3
    .endm

    /* Three columns at a time, entered so that the last one ends a round; r4 and r5 are the sums on entry and exit. */
    .macro  columns kind, name
\name\()_1:
    mov     r6, r4
    mov     r4, r5
    b       \name\()_last
\name\()_2:
    mov     r6, r5
    mov     r5, r4
    b       \name\()_second
\name\()_0:
    column  r4, r5, r6, \kind
\name\()_second:
    column  r5, r6, r4, \kind
\name\()_last:
    column  r6, r4, r5, \kind
    ldr     r10, [sp, #X_END]
    cmp     r0, r10
    bne     \name\()_0
    ldr     r10, [sp, #LINES_AFTER]
    cmp     r10, #0
    beq     line_done
    ldr     r10, [sp, #LINES_LAST]
    add     r4, r4, r10
    code    r4, \kind
    strb    r12, [r0, r2]
    b       line_done
    .endm

    .section .text.glue_depthwise_scalar_lines_1, "ax", %progbits
    .p2align 2
    .global glue_depthwise_scalar_lines_1
    .type   glue_depthwise_scalar_lines_1, %function
    .thumb_func
glue_depthwise_scalar_lines_1:
    enter
    mov     r4, #3
    udiv    r5, r10, r4
    mls     r5, r5, r4, r10 /* outputs of the first, incomplete round */
    ldr     r6, [sp, #LINES_RECTIFIED]
    adr     r4, entries
    cmp     r6, #0
    it      eq
    addeq   r4, r4, #12
    ldr     r5, [r4, r5, lsl #2]
    str     r5, [sp, #ENTRY]
    mul     r10, r10, r3
    str     r10, [sp, #LINES_COUNT] /* from here on the distance */

next_line:
    ldrd    r0, r2, [sp, #LINES_X]
    ldr     r10, [sp, #LINES_BEFORE]
    ldr     r4, [sp, #LINES_FIRST]
    cmp     r10, #0
    bne     1f
    first_column r4
1:
    ldr     r5, [sp, #LINES_BIAS]
    load    0
    ldr     r11, [sp, #LINES_OUTER]
    mla     r4, r10, r7, r4
    mla     r5, r10, r11, r5
    load    1
    ldr     r11, [sp, #LINES_OUTER + 8]
    mla     r4, r10, r8, r4
    mla     r5, r10, r11, r5
    load    2
    ldr     r11, [sp, #LINES_OUTER + 16]
    mla     r4, r10, r9, r4
    mla     r5, r10, r11, r5
    add     r0, r0, r3
    sub     r2, r2, r0 /* from code to output, which move alike */
    ldr     r10, [sp, #LINES_COUNT]
    add     r10, r10, r0
    str     r10, [sp, #X_END]
    ldr     pc, [sp, #ENTRY]

    .p2align 2
entries:
    .word   rectified_0 + 1, rectified_1 + 1, rectified_2 + 1
    .word   signed_0 + 1, signed_1 + 1, signed_2 + 1

    columns 0, rectified
    columns 1, signed

line_done:
    leave_or next_line
    .size   glue_depthwise_scalar_lines_1, . - glue_depthwise_scalar_lines_1

    /* Two columns for every output: r4 is its sum, r5 that of the next; r2 walks over the outputs until r0 is r6. */
    .macro  column_pairs kind, name
\name\():
    middle_column r4
    add     r0, r0, r3
    .if     \kind
    ldr     r5, [sp, #LINES_BIAS]
    .endif
    .irp    row, 0, 1, 2
    load    \row
    ldrd    r11, r12, [sp, #LINES_OUTER + 8 * \row]
    .if     \row + \kind == 0
    mul     r5, r10, r11 /* the bias is in the constant */
    .else
    mla     r5, r10, r11, r5
    .endif
    mla     r4, r10, r12, r4
    .endr
    add     r0, r0, r3
    code    r4, \kind
    strb    r12, [r2]
    ldr     r10, [sp, #LINES_Y_STEP]
    add     r2, r2, r10
    mov     r4, r5
    cmp     r0, r6
    bne     \name
    ldr     r10, [sp, #LINES_AFTER]
    cmp     r10, #0
    beq     line_2_done
    middle_column r4
    ldr     r10, [sp, #LINES_LAST]
    add     r4, r4, r10
    code    r4, \kind
    strb    r12, [r2]
    b       line_2_done
    .endm

    .section .text.glue_depthwise_scalar_lines_2, "ax", %progbits
    .p2align 2
    .global glue_depthwise_scalar_lines_2
    .type   glue_depthwise_scalar_lines_2, %function
    .thumb_func
glue_depthwise_scalar_lines_2:
    enter
    mul     r10, r10, r3
    lsl     r10, r10, #1
    str     r10, [sp, #LINES_COUNT] /* from here on the distance */

next_line_2:
    ldrd    r0, r2, [sp, #LINES_X]
    ldr     r10, [sp, #LINES_BEFORE]
    ldr     r4, [sp, #LINES_FIRST]
    cmp     r10, #0
    bne     1f
    first_column r4
1:
    ldr     r6, [sp, #LINES_COUNT]
    add     r6, r6, r0
    ldr     r10, [sp, #LINES_RECTIFIED]
    cmp     r10, #0
    beq     signed_pairs
    column_pairs 0, rectified_pairs
    column_pairs 1, signed_pairs

line_2_done:
    leave_or next_line_2
    .size   glue_depthwise_scalar_lines_2, . - glue_depthwise_scalar_lines_2

#endif /* GLUE_ASM */
