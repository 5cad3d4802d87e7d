/*
 * Groups of eight channels of one row for Armv7-M; the C form is in glue_dense_scalar_group.c.
 *
 * r4-r11 are the sums, r1 walks over the row and ends at lr, r2 over the stream of biases, weights and numbers. The
 * products are unrolled 8 times and entered in the middle, so that depth may be anything.
 */
#include "glue_asm.h"
#include "glue_dense_scalar_group.h"

#if GLUE_ASM

#define UNROLLED 8
#define PRODUCT_BYTES 68 /* instructions of one depth, all of them 4 bytes wide */

/* On the stack. */
#define X 0
#define X_END 4
#define Y 8
#define PRODUCT 12
#define ENTRY 16
#define EPILOGUE 20
#define COUNT 24
#define SUMS 32
#define FRAME 64

#include "glue_scalar_asm.h"

    .syntax unified
    .thumb

    .macro products
    ldrsb   r0, [r1], #1
    .irp    sum, r4, r5, r6, r7, r8, r9, r10, r11
    ldrsb   r12, [r2], #1
    mla     \sum, r0, r12, \sum
    .endr
    .endm

    .macro outputs kind
    ldr     lr, [sp, #Y]
    .irp    sum, r4, r5, r6, r7, r8, r9, r10, r11
    \kind   \sum
    .endr
    str     lr, [sp, #Y]
    .endm

    .section .text.glue_dense_scalar_groups, "ax", %progbits
    .p2align 2
    .global glue_dense_scalar_groups
    .type   glue_dense_scalar_groups, %function
    .thumb_func
glue_dense_scalar_groups:
    push    {r3-r11, lr}
    ldr     r4, [sp, #40]
    sub     sp, sp, #FRAME
    cmp     r4, #0
    beq     done
    str     r4, [sp, #COUNT]
    ldr     r5, [r3, #PRODUCT_DEPTH]
    ldr     r6, [r3, #PRODUCT_EPILOGUE]
    add     r7, r0, r5
    strd    r0, r7, [sp, #X]
    strd    r1, r3, [sp, #Y]
    rsb     r5, r5, #0
    and     r5, r5, #UNROLLED - 1
    mov     r7, #PRODUCT_BYTES
    adr     r8, next_products
    mla     r5, r5, r7, r8
    orr     r5, r5, #1
    adr     r7, finish_rectified
    cmp     r6, #1
    it      eq
    adreq   r7, finish_signed
    it      hi
    adrhi   r7, finish_general
    orr     r7, r7, #1
    strd    r5, r7, [sp, #ENTRY]

next_group:
    ldm     r2!, {r4-r11}
    ldrd    r1, lr, [sp, #X]
    ldr     pc, [sp, #ENTRY]

    .p2align 2
next_products:
    .rept   UNROLLED
    products
    .endr
products_end:
    .if     products_end - next_products != UNROLLED * PRODUCT_BYTES
    .error  "PRODUCT_BYTES"
    .endif
    cmp     r1, lr
    bne     next_products
    ldr     pc, [sp, #EPILOGUE]

    .p2align 2
finish_rectified:
    outputs rectified
    b       group_done

    .p2align 2
finish_signed:
    outputs signed
    b       group_done

    .p2align 2
finish_general:
    add     r0, sp, #SUMS
    stm     r0, {r4-r11}
    mov     r4, r2
    mov     r1, r2
    ldr     r2, [sp, #Y]
    add     r3, r2, #8
    str     r3, [sp, #Y]
    ldr     r3, [sp, #PRODUCT]
    bl      glue_dense_scalar_general
    add     r2, r4, #128

group_done:
    ldr     r0, [sp, #COUNT]
    subs    r0, r0, #1
    str     r0, [sp, #COUNT]
    bne     next_group

done:
    add     sp, sp, #FRAME
    pop     {r3-r11, pc}
    .size   glue_dense_scalar_groups, . - glue_dense_scalar_groups

#endif /* GLUE_ASM */
