/*
 * Codes of two windows to pairs: int32_t *glue_conv_dsp_runs(const glue_runs_dsp *, int32_t *). The C twin is
 * glue_conv_dsp_runs.c. r2 r3 codes, r4 r5 gaps, r6 runs, r7 length, r0 column.
 */
#include "glue_asm.h"

#if GLUE_ASM

    .syntax unified
    .thumb
    .section .text.glue_conv_dsp_runs, "ax", %progbits
    .balign 4

.macro four
    ldr r10, [r2], #4
    ldr r11, [r3], #4
    sxtb16 r8, r10
    sxtb16 r9, r11
    sxtb16 r10, r10, ror #8
    sxtb16 r11, r11, ror #8
    stm r0!, {r8-r11}
.endm

/* Words only, which the two loads ask for. */
.macro eight_aligned
    ldrd r10, r1, [r2], #8
    ldrd r11, lr, [r3], #8
    sxtb16 r8, r10
    sxtb16 r9, r11
    sxtb16 r10, r10, ror #8
    sxtb16 r11, r11, ror #8
    stm r0!, {r8-r11}
    sxtb16 r8, r1
    sxtb16 r9, lr
    sxtb16 r10, r1, ror #8
    sxtb16 r11, lr, ror #8
    stm r0!, {r8-r11}
.endm

    .global glue_conv_dsp_runs
    .type glue_conv_dsp_runs, %function
    .thumb_func
glue_conv_dsp_runs:
    push {r4-r11, lr}
    ldm r0, {r2-r7}
    mov r0, r1
    orr r12, r2, r3
    orr r12, r12, r4
    orr r12, r12, r5
    orr r12, r12, r7
    tst r12, #3
    bne .Lrun
.Laligned:
    tst r7, #4
    beq .Leights
    four
.Leights:
    lsrs r12, r7, #3
    beq .Lnext_aligned
.Leight:
    eight_aligned
    subs r12, r12, #1
    bne .Leight
.Lnext_aligned:
    add r2, r2, r4
    add r3, r3, r5
    subs r6, r6, #1
    bne .Laligned
    pop {r4-r11, pc}

.Lrun:
    lsrs r12, r7, #2
    beq .Lrest
.Lfour:
    four
    subs r12, r12, #1
    bne .Lfour
.Lrest:
    ands r12, r7, #3
    beq .Lnext
    sub r12, r12, #1
    ldrsb r8, [r2]
    ldrsb r9, [r3]
    ldrsb r10, [r2, r12]
    ldrsb r11, [r3, r12]
    pkhbt r8, r8, r10, lsl #16
    pkhbt r9, r9, r11, lsl #16
    strd r8, r9, [r0], #8
    cmp r12, #2
    bne .Lnext
    ldrsb r8, [r2, #1]
    ldrsb r9, [r3, #1]
    strd r8, r9, [r0], #8
.Lnext:
    add r2, r2, r4
    add r3, r3, r5
    subs r6, r6, #1
    bne .Lrun
    pop {r4-r11, pc}
    .size glue_conv_dsp_runs, . - glue_conv_dsp_runs

#endif
