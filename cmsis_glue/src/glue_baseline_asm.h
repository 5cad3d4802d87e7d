/* Requantisation for Armv6-M as assembly macros; glue_baseline_internal.h is the same in C, with comments. */

#ifndef GLUE_BASELINE_ASM_H
#define GLUE_BASELINE_ASM_H

#include "glue_rounding.h"

    .syntax unified
    .thumb

    /* Where the product is rounded before it is shifted by more than its last 7 bits. */
    .macro  round_product
#if !GLUE_SINGLE_ROUNDING
    adds    r5, r5, #64
#endif
    .endm

    /*
     * r5 = the code of the sum r5 by RECTIFIED with a shift up to 24; r0 and r4 are the halves of the multiplier, r2 the
     * limit, r3 the constant, r7 the shift. Uses r6. `rectified_ends` with the same name must lie near.
     */
    .macro  rectified name
    cmp     r5, #0
    ble     \name\()_lowest
    cmp     r5, r2
    bgt     \name\()_highest
    mov     r6, r5
    muls    r6, r4, r6
    lsrs    r6, r6, #15
    muls    r5, r0, r5
    adds    r5, r5, r6
    adds    r5, r5, r3
    lsrs    r5, r5, r7
    subs    r5, r5, #128
\name\()_store:
    .endm

    .macro  rectified_ends name
\name\()_lowest:
    movs    r5, #128
    b       \name\()_store
\name\()_highest:
    movs    r5, #127
    b       \name\()_store
    .endm

    /* r0, r4 = the halves of the multiplier r0. */
    .macro  split_multiplier
    lsls    r4, r0, #17
    lsrs    r4, r4, #17
    lsrs    r0, r0, #15
    .endm

    /* A subroutine: r5 = the code of the sum r5 by RECTIFIED with a shift above 24, numbers r0, -, r3, r7. Uses r4, r6. */
    .macro  rectified_slowly
    cmp     r5, #0
    ble     1f
    push    {r0, r1, r2}
    uxth    r2, r0
    lsrs    r0, r0, #16
    uxtb    r6, r5
    lsrs    r5, r5, #8
    mov     r1, r6
    muls    r1, r2, r1
    lsrs    r1, r1, #8
    mov     r4, r5
    muls    r4, r2, r4
    adds    r4, r4, r1
    lsrs    r4, r4, #8
    muls    r6, r0, r6
    adds    r6, r6, r4
    lsrs    r6, r6, #8
    muls    r5, r0, r5
    adds    r5, r5, r6
    round_product
    lsrs    r5, r5, #7
    adds    r5, r5, r3
    mov     r4, r7
    subs    r4, r4, #16
    asrs    r5, r5, r4
    pop     {r0, r1, r2}
    cmp     r5, #127
    ble     2f
    movs    r5, #127
    bx      lr
1:
    movs    r5, #128
2:
    bx      lr
    .endm

    /*
     * r5 = the code of the sum r5 by SIGNED; r0, r2 are the halves of the multiplier, `constant` a register, r7 the
     * shift, `zero` where the zero point is on the stack. Uses r3, r4, r6, lr.
     */
    .macro  signed constant, zero
    asrs    r3, r5, #31
    mov     lr, r3
    eors    r5, r5, r3
    subs    r5, r5, r3
    uxtb    r6, r5
    lsrs    r5, r5, #8
    mov     r4, r6
    muls    r4, r2, r4
    adds    r4, r4, r3
    asrs    r4, r4, #8
    mov     r3, r5
    muls    r3, r2, r3
    adds    r3, r3, r4
    asrs    r3, r3, #8
    muls    r6, r0, r6
    adds    r6, r6, r3
    asrs    r6, r6, #8
    muls    r5, r0, r5
    adds    r5, r5, r6
    round_product
    asrs    r5, r5, #7
    add     r5, r5, \constant
    asrs    r5, r5, r7
    mov     r3, lr
    eors    r5, r5, r3
    subs    r5, r5, r3
    ldr     r3, [sp, #\zero]
    adds    r5, r5, r3
    sxtb    r3, r5
    cmp     r3, r5
    beq     2f
    asrs    r5, r5, #31
    movs    r3, #127
    eors    r5, r5, r3
2:
    .endm

#endif /* GLUE_BASELINE_ASM_H */
