/*
 * Tiles of two pixels by two channels for Armv6-M; the C form is in glue_conv_baseline_tile.c.
 *
 * A word of pixels holds a code of the first pixel, and one of the second times 2^16. One multiplication by a weight
 * makes both products; two of them fit 16 bits each. r8-r11 are the sums of whole words and of upper halves of both
 * channels, r12 is the offset that keeps the halves from going below zero. r0 walks over the pixels; r1 and r2 = r1 + 1
 * are the end of the weights, r3 counts up to it.
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_baseline_asm.h"

#define UNROLLED 4
#define STEP_BYTES 42 /* instructions of one step, all of them 2 bytes wide */

/* On the stack; the first ones in the order of glue_tile_baseline_run. */
#define PIXELS 0
#define YA 4
#define YB 8
#define STREAM 12
#define WEIGHTS 16
#define COUNT 20
#define EPILOGUE 24
#define PRODUCT 28
#define ENTRY 32
#define SUMS 36 /* and the zero point for SIGNED */
#define FRAME 44

#define PRODUCT_ZERO_POINT 24 /* offset in glue_scalar_product */

    .macro channel whole, upper
    ldrsb   r6, [r1, r3]
    ldrsb   r7, [r2, r3]
    muls    r6, r4, r6
    muls    r7, r5, r7
    adds    r6, r6, r7
    add     r6, r6, r12
    add     \whole, \whole, r6
    lsrs    r6, r6, #16
    add     \upper, \upper, r6
    adds    r3, r3, #2
    .endm

    .macro step
    ldm     r0!, {r4, r5}
    channel r8, r9
    channel r10, r11
    .endm

    /* The two sums of a channel, r5 and `upper`, and its numbers. */
    .macro  sums whole, upper
    ldm     r1!, {r0, r2, r3, r7}
    mov     r4, \upper
    lsls    r5, r4, #16
    mov     r6, \whole
    subs    r5, r6, r5
    .endm

    .macro  store to, offset
    ldr     r6, [sp, #\to]
    strb    r5, [r6, #\offset]
    .endm

    .macro  rectified_outputs whole, upper, offset
    sums    \whole, \upper
    cmp     r7, #24
    bhi     slowly_\offset
    split_multiplier
    rectified a_\offset
    store   YA, \offset
    mov     r5, \upper
    rectified b_\offset
    store   YB, \offset
outputs_done_\offset:
    .endm

    .macro  rectified_outputs_slowly upper, offset
slowly_\offset:
    bl      rectified_code
    store   YA, \offset
    mov     r5, \upper
    bl      rectified_code
    store   YB, \offset
    b       outputs_done_\offset
    .endm

    .macro  signed_outputs whole, upper, offset
    sums    \whole, \upper
    mov     \whole, r3
    signed  \whole, SUMS
    store   YA, \offset
    mov     r5, \upper
    signed  \whole, SUMS
    store   YB, \offset
    .endm

    .section .text.glue_tile_baseline, "ax", %progbits
    .p2align 2
    .global glue_tile_baseline
    .type   glue_tile_baseline, %function
    .thumb_func
glue_tile_baseline:
    push    {r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    sub     sp, sp, #FRAME
    ldm     r0!, {r1-r5} /* pixels, ya, yb, stream, steps */
    str     r1, [sp, #PIXELS]
    str     r2, [sp, #YA]
    str     r3, [sp, #YB]
    str     r4, [sp, #STREAM]
    lsls    r1, r5, #2
    str     r1, [sp, #WEIGHTS]
    rsbs    r5, r5, #0
    movs    r1, #UNROLLED - 1
    ands    r5, r5, r1
    movs    r1, #STEP_BYTES
    muls    r5, r1, r5
    adr     r1, steps
    adds    r5, r5, r1
    adds    r5, r5, #1
    str     r5, [sp, #ENTRY]
    ldm     r0!, {r1, r2, r3} /* count, epilogue, product */
    str     r1, [sp, #COUNT]
    str     r3, [sp, #PRODUCT]
    ldr     r4, [r3, #PRODUCT_ZERO_POINT]
    str     r4, [sp, #SUMS]
    lsls    r2, r2, #2
    adr     r1, epilogues
    ldr     r1, [r1, r2]
    str     r1, [sp, #EPILOGUE]
    ldr     r0, fields
    mov     r12, r0

next_group:
    ldr     r1, [sp, #STREAM]
    ldm     r1!, {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    ldr     r0, [sp, #PIXELS]
    ldr     r3, [sp, #WEIGHTS]
    adds    r1, r1, r3
    adds    r2, r1, #1
    rsbs    r3, r3, #0
    ldr     r4, [sp, #ENTRY]
    bx      r4

    .p2align 2
steps:
    .rept   UNROLLED
    step
    .endr
steps_end:
    .if     steps_end - steps != UNROLLED * STEP_BYTES
    .error  "STEP_BYTES"
    .endif
    bne     steps
    ldr     r4, [sp, #EPILOGUE]
    bx      r4

    .p2align 2
fields:
    .word   0x7F807F80
epilogues:
    .word   finish_rectified + 1, finish_signed + 1, finish_general + 1

finish_rectified:
    rectified_outputs r8, r9, 0
    rectified_outputs r10, r11, 1
    b       group_done
    .irp    name, a_0, b_0, a_1, b_1
    rectified_ends \name
    .endr
    rectified_outputs_slowly r9, 0
    rectified_outputs_slowly r11, 1
rectified_code:
    rectified_slowly

finish_signed:
    signed_outputs r8, r9, 0
    signed_outputs r10, r11, 1
    b       group_done

finish_general:
    str     r1, [sp, #STREAM]
    mov     r4, r9
    lsls    r5, r4, #16
    mov     r6, r8
    subs    r6, r6, r5
    str     r6, [sp, #SUMS]
    mov     r4, r11
    lsls    r5, r4, #16
    mov     r6, r10
    subs    r6, r6, r5
    str     r6, [sp, #SUMS + 4]
    add     r0, sp, #SUMS
    ldr     r2, [sp, #YA]
    ldr     r3, [sp, #PRODUCT]
    bl      glue_finish_baseline
    mov     r4, r9
    str     r4, [sp, #SUMS]
    mov     r4, r11
    str     r4, [sp, #SUMS + 4]
    add     r0, sp, #SUMS
    ldr     r1, [sp, #STREAM]
    ldr     r2, [sp, #YB]
    ldr     r3, [sp, #PRODUCT]
    bl      glue_finish_baseline
    ldr     r0, fields_again
    mov     r12, r0
    ldr     r1, [sp, #STREAM]
    adds    r1, r1, #32

group_done:
    str     r1, [sp, #STREAM]
    ldr     r0, [sp, #YA]
    adds    r0, r0, #2
    str     r0, [sp, #YA]
    ldr     r0, [sp, #YB]
    adds    r0, r0, #2
    str     r0, [sp, #YB]
    ldr     r0, [sp, #COUNT]
    subs    r0, r0, #1
    beq     1f
    str     r0, [sp, #COUNT]
    b       next_group
1:
    add     sp, sp, #FRAME
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r4-r7, pc}

    .p2align 2
fields_again:
    .word   0x7F807F80
    .size   glue_tile_baseline, . - glue_tile_baseline

    /* to[i] = a[i] + b[i] * 2^16; r3 counts up to the ends r1 and r2. */
    .macro  pair_codes
    ldrsb   r4, [r1, r3]
    ldrsb   r5, [r2, r3]
    lsls    r5, r5, #16
    adds    r4, r4, r5
    stm     r0!, {r4}
    adds    r3, r3, #1
    .endm

    .section .text.glue_pair_codes_baseline, "ax", %progbits
    .p2align 2
    .global glue_pair_codes_baseline
    .type   glue_pair_codes_baseline, %function
    .thumb_func
glue_pair_codes_baseline:
    push    {r4, r5, lr}
    adds    r1, r1, r3
    adds    r2, r2, r3
    rsbs    r3, r3, #0
    movs    r5, #3
    ands    r5, r5, r3
    movs    r4, #12 /* bytes of pair_codes */
    muls    r5, r4, r5
    adr     r4, codes
    adds    r4, r4, r5
    adds    r4, r4, #1
    bx      r4

    .p2align 2
codes:
    .rept   4
    pair_codes
    .endr
    bne     codes
    pop     {r4, r5, pc}
    .size   glue_pair_codes_baseline, . - glue_pair_codes_baseline

#endif /* GLUE_ASM */
