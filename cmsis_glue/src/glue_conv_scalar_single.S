/*
 * One pixel times four channels for Armv7-M: void glue_conv_scalar_single(const glue_tile_scalar_run *). The C form is
 * in glue_conv_scalar_single.c.
 *
 * r4-r7 are the sums, r1 walks over the codes from r9 to r8, r2 over the stream, lr over the outputs; r0, r3, r12 hold
 * what is multiplied. The products are unrolled and entered at r10, r11 is what follows them.
 */
#include "glue_asm.h"

#if GLUE_ASM

#define UNROLLED 8
#define PRODUCT_BYTES 36 /* instructions of one depth, all of them 4 bytes wide */

/* On the stack. */
#define SUMS 0
#define PRODUCT 16
#define END 20
#define FRAME 24

/* In glue_tile_scalar_run. */
#define RUN_PRODUCT 44

#include "glue_scalar_asm.h"

    .syntax unified
    .thumb

    .macro next_or_leave
    ldr     r0, [sp, #END]
    cmp     r2, r0
    bne     next_group
    add     sp, sp, #FRAME
    pop     {r3-r11, pc}
    .endm

    .section .text.glue_conv_scalar_single, "ax", %progbits
    .p2align 2
    .global glue_conv_scalar_single
    .type   glue_conv_scalar_single, %function
    .thumb_func
glue_conv_scalar_single:
    push    {r3-r11, lr}
    sub     sp, sp, #FRAME
    ldr     r12, [r0, #RUN_PRODUCT]
    ldm     r0, {r1-r8} /* a, b, ya, yb, stream, end, depth, epilogue */
    strd    r12, r6, [sp, #PRODUCT]
    mov     lr, r3
    mov     r2, r5
    mov     r9, r1
    adr     r11, finish_rectified
    cmp     r8, #1
    it      eq
    adreq   r11, finish_signed
    it      hi
    adrhi   r11, finish_general
    orr     r11, r11, #1
    rsb     r3, r7, #0
    and     r3, r3, #UNROLLED - 1
    mov     r0, #PRODUCT_BYTES
    adr     r10, next_products
    mla     r10, r3, r0, r10
    orr     r10, r10, #1
    add     r8, r9, r7

next_group:
    ldm     r2!, {r4-r7}
    mov     r1, r9
    bx      r10

    .p2align 2
next_products:
    .rept   UNROLLED
    ldrsb   r0, [r1], #1
    .irp    sum, r4, r5, r6, r7
    ldrsb   r12, [r2], #1
    mla     \sum, r0, r12, \sum
    .endr
    .endr
products_end:
    .if     products_end - next_products != UNROLLED * PRODUCT_BYTES
    .error  "PRODUCT_BYTES"
    .endif
    cmp     r1, r8
    bne     next_products
    bx      r11

    .p2align 2
finish_rectified:
    .irp    sum, r4, r5, r6, r7
    rectified \sum
    .endr
    next_or_leave

    .p2align 2
finish_signed:
    .irp    sum, r4, r5, r6, r7
    signed  \sum
    .endr
    next_or_leave

    .p2align 2
finish_general:
    stm     sp, {r4-r7}
    mov     r4, r2
    mov     r5, lr
    mov     r0, sp
    mov     r1, r2
    mov     r2, lr
    ldr     r3, [sp, #PRODUCT]
    bl      glue_general_scalar
    add     r2, r4, #64
    add     lr, r5, #4
    next_or_leave
    .size   glue_conv_scalar_single, . - glue_conv_scalar_single

#endif /* GLUE_ASM */
