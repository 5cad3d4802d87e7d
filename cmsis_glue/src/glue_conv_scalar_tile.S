/*
 * Tiles of two pixels by four channels for Armv7-M; the C form is in glue_conv_scalar_tile.c.
 *
 * r4-r7 and r8-r11 are the sums of the two pixels, r1 and lr walk over the pixels' codes, r2 over the stream of
 * biases, weights and numbers; r0, r3, r12 hold what is multiplied. That is every register there is: everything else
 * lies on the stack. The products are unrolled 16 times and entered in the middle, so that depth may be anything.
 */
#include "glue_asm.h"

#if GLUE_ASM

#define UNROLLED 16
#define PRODUCT_BYTES 56 /* instructions of one depth, all of them 4 bytes wide */

/* On the stack. */
#define A 0
#define B 4
#define YA 8
#define YB 12
#define ENTRY 16
#define LAST_CODE 20
#define END 24
#define EPILOGUE 28
#define STREAM 32
#define PAIRS 36
#define X_STEP 40
#define Y_STEP 44
#define PRODUCT 48
#define YA_START 52
#define YB_START 56
#define SUMS 64
#define FRAME 96

#include "glue_scalar_asm.h"

    .syntax unified
    .thumb

    .macro products
    ldrsb   r0, [r1], #1
    ldrsb   r3, [lr], #1
    ldrsb   r12, [r2], #1
    mla     r4, r0, r12, r4
    mla     r8, r3, r12, r8
    ldrsb   r12, [r2], #1
    mla     r5, r0, r12, r5
    mla     r9, r3, r12, r9
    ldrsb   r12, [r2], #1
    mla     r6, r0, r12, r6
    mla     r10, r3, r12, r10
    ldrsb   r12, [r2], #1
    mla     r7, r0, r12, r7
    mla     r11, r3, r12, r11
    .endm

    .macro outputs kind
    ldr     lr, [sp, #YA]
    .irp    sum, r4, r5, r6, r7
    \kind   \sum
    .endr
    str     lr, [sp, #YA]
    ldr     lr, [sp, #YB]
    sub     r2, r2, #64
    .irp    sum, r8, r9, r10, r11
    \kind   \sum
    .endr
    str     lr, [sp, #YB]
    .endm

    .section .text.glue_tile_scalar, "ax", %progbits
    .p2align 2
    .global glue_tile_scalar
    .type   glue_tile_scalar, %function
    .thumb_func
glue_tile_scalar:
    push    {r3-r11, lr}
    sub     sp, sp, #FRAME
    ldm     r0!, {r1-r8} /* a, b, ya, yb, stream, end, depth, epilogue */
    strd    r1, r2, [sp, #A]
    strd    r3, r4, [sp, #YA_START]
    str     r5, [sp, #STREAM]
    add     r9, r1, r7
    strd    r9, r6, [sp, #LAST_CODE]
    rsb     r9, r7, #0
    and     r9, r9, #UNROLLED - 1
    mov     r10, #PRODUCT_BYTES
    adr     r11, next_products
    mla     r9, r9, r10, r11
    orr     r9, r9, #1
    str     r9, [sp, #ENTRY]
    adr     r9, finish_rectified
    cmp     r8, #1
    it      eq
    adreq   r9, finish_signed
    it      hi
    adrhi   r9, finish_general
    orr     r9, r9, #1
    str     r9, [sp, #EPILOGUE]
    ldm     r0, {r0, r1, r2, r3} /* pairs, x_step, y_step, product */
    add     r9, sp, #PAIRS
    stm     r9, {r0, r1, r2, r3}

next_pair:
    ldrd    r0, r1, [sp, #YA_START]
    strd    r0, r1, [sp, #YA]
    ldr     r2, [sp, #STREAM]

next_group:
    ldm     r2!, {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    ldrd    r1, lr, [sp, #A]
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
    ldr     r0, [sp, #LAST_CODE]
    cmp     r1, r0
    bne     next_products
    ldr     pc, [sp, #EPILOGUE]

    .p2align 2
finish_rectified:
    outputs rectified
    ldr     r0, [sp, #END]
    cmp     r2, r0
    bne     next_group
    b       pair_done

    .p2align 2
finish_signed:
    outputs signed
    ldr     r0, [sp, #END]
    cmp     r2, r0
    bne     next_group
    b       pair_done

    .p2align 2
finish_general:
    add     r0, sp, #SUMS
    stm     r0, {r4-r11}
    mov     r4, r2
    mov     r1, r2
    ldr     r2, [sp, #YA]
    ldr     r3, [sp, #PRODUCT]
    bl      glue_general_scalar
    add     r0, sp, #SUMS + 16
    mov     r1, r4
    ldr     r2, [sp, #YB]
    ldr     r3, [sp, #PRODUCT]
    bl      glue_general_scalar
    add     r2, r4, #64
    ldrd    r0, r1, [sp, #YA]
    adds    r0, r0, #4
    adds    r1, r1, #4
    strd    r0, r1, [sp, #YA]
    ldr     r0, [sp, #END]
    cmp     r2, r0
    bne     next_group

pair_done:
    ldr     r0, [sp, #PAIRS]
    subs    r0, r0, #1
    beq     done
    str     r0, [sp, #PAIRS]
    ldrd    r2, r3, [sp, #X_STEP] /* and the step of y */
    ldrd    r0, r1, [sp, #A]
    add     r0, r0, r2
    add     r1, r1, r2
    strd    r0, r1, [sp, #A]
    ldr     r0, [sp, #LAST_CODE]
    add     r0, r0, r2
    str     r0, [sp, #LAST_CODE]
    ldrd    r0, r1, [sp, #YA_START]
    add     r0, r0, r3
    add     r1, r1, r3
    strd    r0, r1, [sp, #YA_START]
    b       next_pair

done:
    add     sp, sp, #FRAME
    pop     {r3-r11, pc}
    .size   glue_tile_scalar, . - glue_tile_scalar

    /*
     * Copies windows of rows of codes, by words wherever there are four codes; r6 counts the codes of a row, r3 rows,
     * r9 windows; r4, r5, r10, r11 are the ways to the next row and window.
     */
    .macro  next_window
    add     r0, r0, r10
    add     r1, r1, r11
    ldr     r3, [sp]
    subs    r9, r9, #1
    .endm

    .section .text.glue_copy_rows_scalar, "ax", %progbits
    .p2align 2
    .global glue_copy_rows_scalar
    .type   glue_copy_rows_scalar, %function
    .thumb_func
glue_copy_rows_scalar:
    push    {r3-r11, lr}
    add     r6, r0, #24
    ldm     r0, {r0-r5}       /* to, from, bytes, rows, to_pitch, from_pitch */
    ldm     r6, {r9, r10, r11} /* windows, to_step, from_step */
    mls     r10, r3, r4, r10
    mls     r11, r3, r5, r11
    str     r3, [sp]
    subs    r6, r2, #4
    cmp     r6, #8
    bls     short_rows
    subs    r4, r4, r2
    subs    r5, r5, r2
    orr     r6, r0, r1
    orrs    r6, r6, r2
    orrs    r6, r6, r4
    orrs    r6, r6, r5
    orr     r6, r6, r10
    orr     r6, r6, r11
    lsls    r6, r6, #30
    bne     next_row

next_aligned_row:
    subs    r6, r2, #16
    blt     2f
1:
    ldm     r1!, {r7, r8, r12, lr}
    stm     r0!, {r7, r8, r12, lr}
    subs    r6, r6, #16
    bge     1b
2:
    lsls    r6, r6, #29
    bcc     3f
    ldm     r1!, {r7, r8}
    stm     r0!, {r7, r8}
3:
    bpl     4f
    ldr     r7, [r1], #4
    str     r7, [r0], #4
4:
    add     r0, r0, r4
    add     r1, r1, r5
    subs    r3, r3, #1
    bne     next_aligned_row
    next_window
    bne     next_aligned_row
    pop     {r3-r11, pc}

next_row:
    subs    r6, r2, #8
    blt     2f
1:
    ldr     r7, [r1], #4
    ldr     r8, [r1], #4
    str     r7, [r0], #4
    str     r8, [r0], #4
    subs    r6, r6, #8
    bge     1b
2:
    lsls    r7, r6, #30
    bcc     3f
    ldr     r8, [r1], #4
    str     r8, [r0], #4
3:
    bpl     4f
    ldrh    r8, [r1], #2
    strh    r8, [r0], #2
4:
    lsls    r7, r6, #31
    beq     5f
    ldrb    r8, [r1], #1
    strb    r8, [r0], #1
5:
    add     r0, r0, r4
    add     r1, r1, r5
    subs    r3, r3, #1
    bne     next_row
    next_window
    bne     next_row
    pop     {r3-r11, pc}

    /* 4 to 12 codes: three words that overlap. */
short_rows:
    cmp     r6, #4
    ite     hs
    movhs   r7, #4
    movlo   r7, r6
1:
    ldr     r8, [r1]
    ldr     r12, [r1, r7]
    ldr     lr, [r1, r6]
    str     r8, [r0]
    str     r12, [r0, r7]
    str     lr, [r0, r6]
    add     r0, r0, r4
    add     r1, r1, r5
    subs    r3, r3, #1
    bne     1b
    next_window
    bne     1b
    pop     {r3-r11, pc}
    .size   glue_copy_rows_scalar, . - glue_copy_rows_scalar

#endif /* GLUE_ASM */
