/*
 * What the assembly forms of the strip kernels share.
 *
 * In r3 the glue_strip_mve, in r1 the cells of the next channel, in r5 its outputs, in r7 those of the step, in r8 from
 * step to step; r9-r11 bias, multiplier, right shift; r12 the zero point. Sums come in r0, r2, r4, r6, the accumulators
 * that MVE knows. q4 and q5 the sums of a step, q6 addresses of a window, q7 offsets of the outputs. From strip_channel
 * to strip_tail the flags say what comes after the loop; nothing in the loop changes them.
 */

#ifndef GLUE_DEPTHWISE_MVE_STRIP_MACROS_H
#define GLUE_DEPTHWISE_MVE_STRIP_MACROS_H

#include "glue_mve_asm.h"

/* Leaves in r0 the records. */
.macro strip_begin name
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type \name, %function
\name:
    push {r4-r11, lr}
    vpush {d8-d15}
    mov r3, r0
    vldrw.u32 q7, [r3, #GLUE_STRIP_SPREAD]
    ldrd r1, r5, [r3, #GLUE_STRIP_CELLS]
    ldr r12, [r3, #GLUE_STRIP_ZERO_POINT]
    ldrh r8, [r3, #GLUE_STRIP_SPREAD + 2] /* half a step */
    lsls r8, r8, #1
    ldr r0, [r3, #GLUE_STRIP_WEIGHTS]
.endm

/* After the weights: numbers of the channel at r0, loop counter; without full steps on to \tail. */
.macro strip_channel general, tail
    ldm r0!, {r9, r10, r11}
.if \general
    ldrd r2, r4, [r0], #8
    strd r2, r4, [r3, #GLUE_STRIP_LEFT]
.endif
    str r0, [r3, #GLUE_STRIP_WEIGHTS]
    vldrw.u32 q6, [r3, #GLUE_STRIP_WINDOW]
    ldrd r0, r2, [r3, #GLUE_STRIP_STEPS]
    vadd.i32 q6, q6, r1
    add r1, #GLUE_STRIP_WORD
    mov r7, r5
    add r5, #1
    cmp r2, #GLUE_STRIP_WHOLE
    wls lr, r0, \tail
.endm

/* Four sums into the lanes of q4 or q5. */
.macro strip_lanes q
    vmov \q[2], \q[0], r0, r4
    vmov \q[3], \q[1], r2, r6
.endm

/* Sums in q4 (even lanes of the result) and q5 (odd lanes) become codes and are stored. */
.macro strip_codes general
    vadd.i32 q4, q4, r9
    vadd.i32 q5, q5, r9
.if \general
    ldrd r0, r2, [r3, #GLUE_STRIP_LEFT]
    vqshl.s32 q4, r0
    vqshl.s32 q5, r0
    high_product q4, q4, r10
    high_product q5, q5, r10
#if !GLUE_SINGLE_ROUNDING
    vshr.s32 q7, q4, #31
    vmla.s32 q4, q7, r2
    vshr.s32 q7, q5, #31
    vmla.s32 q5, q7, r2
#endif
    vrshl.s32 q4, r11
    vrshl.s32 q5, r11
    vqmovnb.s32 q4, q4
    vqmovnt.s32 q4, q5
    vldrw.u32 q7, [r3, #GLUE_STRIP_LOWEST]
    vldrw.u32 q5, [r3, #GLUE_STRIP_HIGHEST]
    vqadd.s16 q4, q4, r12
    vmax.s16 q4, q4, q7
    vldrw.u32 q7, [r3, #GLUE_STRIP_SPREAD]
    vmin.s16 q4, q4, q5
.else
    high_product q4, q4, r10
    high_product q5, q5, r10
    vrshl.s32 q4, r11
    vrshl.s32 q5, r11
    vqmovnb.s32 q4, q4
    vqmovnt.s32 q4, q5
    vqadd.s16 q4, q4, r12
    vqmovnb.s16 q4, q4
.endif
    vstrb.16 q4, [r7, q7]
    add r7, r8
.endm

/* Four sums in q4 become codes and are stored. */
.macro strip_half_codes general
    vadd.i32 q4, q4, r9
.if \general
    ldrd r0, r2, [r3, #GLUE_STRIP_LEFT]
    vqshl.s32 q4, r0
    high_product q4, q4, r10
#if !GLUE_SINGLE_ROUNDING
    vshr.s32 q5, q4, #31
    vmla.s32 q4, q5, r2
#endif
    vrshl.s32 q4, r11
    vqmovnb.s32 q4, q4
    vldrw.u32 q5, [r3, #GLUE_STRIP_LOWEST]
    vqadd.s16 q4, q4, r12
    vmax.s16 q4, q4, q5
    vldrw.u32 q5, [r3, #GLUE_STRIP_HIGHEST]
    vmin.s16 q4, q4, q5
.else
    high_product q4, q4, r10
    vrshl.s32 q4, r11
    vqmovnb.s32 q4, q4
    vqadd.s16 q4, q4, r12
    vqmovnb.s16 q4, q4
.endif
    vldrw.u32 q5, [r3, #GLUE_STRIP_HALF_SPREAD]
    vstrb.32 q4, [r7, q5]
.endm

/* After the loop: nothing, a whole step of the loop at \step that overlaps the last, or half a step, which follows. */
.macro strip_tail step
    blt 9f
    ldrd r0, r2, [r3, #GLUE_STRIP_TAIL]
    vadd.i32 q6, q6, r0
    add r7, r2
    bgt 8f
    mov r0, #1
    dls lr, r0
    cmp r0, #GLUE_STRIP_WHOLE + 1
    b \step
8:
.endm

/* Ends the loop over channels that begins at \channel. */
.macro strip_end name, channel
9:
    ldrd r0, r2, [r3, #GLUE_STRIP_WEIGHTS]
    cmp r0, r2
    bne \channel
    vpop {d8-d15}
    pop {r4-r11, pc}
    .size \name, . - \name
.endm

#endif /* GLUE_DEPTHWISE_MVE_STRIP_MACROS_H */
