/*
 * Sums of eight channels of one row for Armv6-M; the C form is in glue_dense_baseline_group.c.
 *
 * r1 is the end of the row and r3 counts up to it, r2 walks over the weights. Weights without a sign load from constant
 * offsets. r0, r6-r12 are the sums.
 */
#include "glue_asm.h"

#if GLUE_ASM

#define UNROLLED 4
#define PRODUCT_BYTES 52 /* instructions of one depth, all of them 2 bytes wide */

    .syntax unified
    .thumb

    .macro  low_product sum, offset
    ldrb    r5, [r2, #\offset]
    muls    r5, r4, r5
    adds    \sum, \sum, r5
    .endm

    .macro  high_product sum, offset
    ldrb    r5, [r2, #\offset]
    muls    r5, r4, r5
    add     \sum, \sum, r5
    .endm

    .macro  products offset
    ldrsb   r4, [r1, r3]
    low_product r0, \offset
    low_product r6, \offset + 1
    low_product r7, \offset + 2
    high_product r8, \offset + 3
    high_product r9, \offset + 4
    high_product r10, \offset + 5
    high_product r11, \offset + 6
    high_product r12, \offset + 7
    adds    r3, r3, #1
    .endm

    .section .text.glue_dense_baseline_sums, "ax", %progbits
    .p2align 2
    .global glue_dense_baseline_sums
    .type   glue_dense_baseline_sums, %function
    .thumb_func
glue_dense_baseline_sums:
    push    {r0, r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    ldr     r0, [sp, #40] /* correction */
    ldm     r2!, {r4-r7}
    adds    r4, r4, r0
    adds    r5, r5, r0
    adds    r6, r6, r0
    adds    r7, r7, r0
    push    {r4-r7}
    ldm     r2!, {r4-r7}
    adds    r4, r4, r0
    adds    r5, r5, r0
    adds    r6, r6, r0
    adds    r7, r7, r0
    mov     r9, r4
    mov     r10, r5
    mov     r11, r6
    mov     r12, r7
    pop     {r4-r7}
    mov     r0, r4
    mov     r8, r7
    mov     r7, r6
    mov     r6, r5
    adds    r1, r1, r3
    rsbs    r3, r3, #0
    movs    r5, #UNROLLED - 1
    ands    r5, r5, r3
    lsls    r4, r5, #3
    subs    r2, r2, r4 /* as if the products that are left out came first */
    movs    r4, #PRODUCT_BYTES
    muls    r5, r4, r5
    adr     r4, next_products
    adds    r4, r4, r5
    adds    r4, r4, #1
    bx      r4

    .p2align 2
next_products:
    products 0
    products 8
    products 16
    products 24
products_end:
    .if     products_end - next_products != UNROLLED * PRODUCT_BYTES
    .error  "PRODUCT_BYTES"
    .endif
    beq     1f
    adds    r2, r2, #32
    b       next_products
1:
    ldr     r1, [sp, #16] /* sums */
    mov     r5, r8
    stm     r1!, {r0, r6, r7}
    stm     r1!, {r5}
    mov     r4, r9
    mov     r5, r10
    mov     r6, r11
    mov     r7, r12
    stm     r1!, {r4-r7}
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r0, r4-r7, pc}
    .size   glue_dense_baseline_sums, . - glue_dense_baseline_sums

#endif /* GLUE_ASM */
