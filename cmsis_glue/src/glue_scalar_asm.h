/* What the assembly of the products for Armv7-M shares; the C twins are in glue_scalar_internal.h. */

#ifndef GLUE_SCALAR_ASM_H
#define GLUE_SCALAR_ASM_H

    /* One output from a sum; r2 walks over the numbers, lr over the outputs. */
    .macro rectified sum
    ldm     r2!, {r0, r1, r3, r12}
    smlal   r1, r3, \sum, r0
    asr     r3, r3, r12
    ssat    r3, #8, r3
    strb    r3, [lr], #1
    .endm

    .macro signed sum
    ldm     r2!, {r0, r1, r3, r12}
    lsl     \sum, \sum, #1
    smlal   r1, r3, \sum, r0
    add     r3, r3, \sum, asr #31
    asr     r3, r3, r12
    ssat    r3, #8, r3
    strb    r3, [lr], #1
    .endm

#endif /* GLUE_SCALAR_ASM_H */
