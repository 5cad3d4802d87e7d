/*
 * void glue_depthwise_gather_lines(const glue_depthwise_gather *): codes of one channel to halfwords, eight at a time.
 * The C twin is in glue_depthwise_channels_dsp.c.
 */
#include "glue_asm.h"

#if GLUE_ASM

    .syntax unified
    .thumb

/* r0 from, r1 to, r2 step, r3 three steps; r4-r7 are free. */
.macro four
    ldrsb r4, [r0]
    ldrsb r5, [r0, r2]
    ldrsb r6, [r0, r2, lsl #1]
    ldrsb r7, [r0, r3]
    add r0, r0, r2, lsl #2
    strh r4, [r1], #8
    strh r5, [r1, #-6]
    strh r6, [r1, #-4]
    strh r7, [r1, #-2]
.endm

    .section .text.glue_depthwise_gather_lines, "ax", %progbits
    .align 2
    .global glue_depthwise_gather_lines
    .type glue_depthwise_gather_lines, %function
glue_depthwise_gather_lines:
    push {r4-r11, lr}
    ldm r0, {r8-r12, r14} /* x, to, lines, elements, line step, element step */
    ldr r0, [r0, #24]     /* bytes from line to line */
    push {r0, r1}
    mov r2, r14
    add r3, r14, r14, lsl #1
    subs r11, r11, #8
1:
    mov r0, r8
    mov r1, r9
    movs r14, r11
    bmi 3f
2:
    four
    four
    subs r14, r14, #8
    bpl 2b
3:
    lsls r4, r14, #30 /* carry: bit 2 of what is left, sign: bit 1 */
    bcc 4f
    four
    lsls r4, r14, #30
4:
    bpl 5f
    ldrsb r4, [r0]
    ldrsb r5, [r0, r2]
    add r0, r0, r2, lsl #1
    strh r4, [r1], #4
    strh r5, [r1, #-2]
5:
    lsls r4, r14, #31
    beq 6f
    ldrsb r4, [r0]
    strh r4, [r1]
6:
    ldr r4, [sp]
    add r8, r8, r12
    add r9, r9, r4
    subs r10, r10, #1
    bne 1b
    add sp, sp, #8
    pop {r4-r11, pc}
    .size glue_depthwise_gather_lines, . - glue_depthwise_gather_lines

#endif
