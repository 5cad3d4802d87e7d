/*
 * One short row of outputs of 3 x 3 windows with MVE: void glue_depthwise_row_<outputs>_mve(glue_depthwise_row_job *).
 * The C forms are in glue_depthwise_row_mve.c.
 *
 * Cells are those of glue_depthwise_mve_strip.h: a word is the column of a window of one channel, 16 channels lie side by
 * side, columns follow. A gather of four of them are the windows of two outputs, q0 and q1 their weights. Four outputs
 * of two channels are requantised together, and fifth outputs of four channels.
 *
 *   r0 r2 r4 r6  sums of four outputs     q2     windows
 *   r8 r12       of fifth ones            q3     fifth outputs
 *   r1  stream       r7  fifth outputs    q4 q5  outputs
 *   r5  outputs      r9  zero point       q6     columns of the first channel
 *   r10 r11      multiplier, shift        q7     where outputs go, from r5
 */
#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_depthwise_mve_strip.h"
#include "glue_depthwise_row_mve.h"
#include "glue_mve_asm.h"

    .syntax unified
    .thumb

/* Columns into cells, of rows in the registers named; r4 is the way from column to column. */
.macro fill a, b, c
2:
.ifnb \c
    vpsttt
    vldrbt.u8 \a, [r0]
    vldrbt.u8 \b, [r1]
    vldrbt.u8 \c, [r2]
    add r2, r4
.else
    vpstt
    vldrbt.u8 \a, [r0]
    vldrbt.u8 \b, [r1]
.endif
    add r0, r4
    add r1, r4
    vst40.8 {q0, q1, q2, q3}, [r6]
    vst41.8 {q0, q1, q2, q3}, [r6]
    vst42.8 {q0, q1, q2, q3}, [r6]
    vst43.8 {q0, q1, q2, q3}, [r6]!
    le lr, 2b
.endm

.macro channel number, q, five, fifth, numbers:vararg
    vldrw.u32 q0, [r1], #16
    vldrw.u32 q1, [r1], #16
    ldm r1!, \numbers
    vldrw.u32 q2, [q6, #GLUE_STRIP_WORD * \number]
    vmladava.s8 r0, q2, q0
    vmladava.s8 r2, q2, q1
    vldrw.u32 q2, [q6, #2 * GLUE_STRIP_CELL + GLUE_STRIP_WORD * \number]
    vmladava.s8 r4, q2, q0
    vmladava.s8 r6, q2, q1
.if \five
    vldrw.u32 q2, [q6, #4 * GLUE_STRIP_CELL + GLUE_STRIP_WORD * \number]
    vmladava.s8 \fifth, q2, q0
.endif
    vmov \q[2], \q[0], r0, r4
    vmov \q[3], \q[1], r2, r6
    high_product \q, \q, r10
    vrshl.s32 \q, r11
.endm

/* Two channels. */
.macro channels first, second, five
    channel \first, q4, \five, r8, {r0, r2, r4, r6, r8, r10, r11}
    channel \second, q5, \five, r12, {r0, r2, r4, r6, r10, r11, r12}
.if \five
    vmov q3[\second], q3[\first], r8, r12
.endif
    vqmovnb.s32 q4, q4
    vqmovnt.s32 q4, q5
    vqadd.s16 q4, q4, r9
    vqmovnb.s16 q4, q4
    vstrb.16 q4, [r5, q7]
.endm

/* Outputs from \start on, of lr times four channels. */
.macro outputs start, five
    ldrd r5, r1, [r3, #ROW_Y] /* and the weights */
    ldr r0, [r3, #ROW_CHANNELS]
    ldr r2, [r3, #ROW_CELLS]
    mov r6, #\start
    mla r5, r0, r6, r5
    add r7, r5, r0, lsl #2
    add r2, r2, r6, lsl #6
    vidup.u32 q6, r4, #8
    vshl.i32 q6, q6, #3
    vadd.i32 q6, q6, r2
    ldrd r9, r0, [r3, #ROW_OUTPUT_ZERO] /* and the channels of this round */
    lsr r0, r0, #2
    dls lr, r0
6:
    channels 0, 2, \five
    add r5, #1
    channels 1, 3, \five
    add r5, #3
.if \five
    vldrw.u32 q4, [r1], #16
    vldrw.u32 q5, [r1], #16
    high_product q3, q3, q4
    vrshl.s32 q3, q3, q5
    vqmovnb.s32 q3, q3
    vqadd.s16 q3, q3, r9
    vqmovnb.s16 q3, q3
    vstrb.32 q3, [r7], #4
.else
    add r1, #32
.endif
    mov r8, #4 * GLUE_STRIP_WORD
    vadd.i32 q6, q6, r8
    le lr, 6b
.endm

.macro row count
    .section .text.glue_depthwise_row_\count\()_mve, "ax", %progbits
    .balign 4
    .global glue_depthwise_row_\count\()_mve
    .type glue_depthwise_row_\count\()_mve, %function
    .thumb_func
glue_depthwise_row_\count\()_mve:
    push {r4-r11, lr}
    vpush {d8-d15}
    mov r3, r0
    ldr r0, [r3, #ROW_ZERO]
    ldrd r1, r2, [r3, #ROW_CELLS] /* and where columns end: padding */
    vdup.8 q0, r0
    .irp offset, 0, 16, 32, 48
    vstrw.32 q0, [r1, #\offset]
    vstrw.32 q0, [r2, #\offset]
    .endr
    /* places: channels * (lane / 2) + 2 * (lane % 2) */
    ldr r1, [r3, #ROW_CHANNELS]
    movs r0, #0
    vidup.u16 q7, r0, #1
    vmov.i16 q5, #1
    vshr.u16 q6, q7, #1
    vand q7, q7, q5
    vmul.i16 q6, q6, r1
    vadd.i16 q7, q7, q7
    vadd.i16 q7, q7, q6
1:
    ldr r10, [r3, #ROW_LEFT]
    ldm r3, {r0, r1, r4, r5, r6, r8, r9} /* x, row_step, channels, columns, cell, missing, zero */
    add r11, r0, #GLUE_STRIP_CHANNELS
    str r11, [r3, #ROW_X]
    cmp r10, #GLUE_STRIP_CHANNELS
    it hi
    movhi r10, #GLUE_STRIP_CHANNELS
    str r10, [r3, #ROW_ROUND]
    add r2, r0, r1, lsl #1
    add r1, r0
    vctp.8 r10
    dls lr, r5
    cmp r8, #GLUE_ROW_FIRST
    beq 3f
    bhi 4f
    fill q0, q1, q2
    b 5f
3:
    vdup.8 q0, r9
    fill q1, q2
    b 5f
4:
    vdup.8 q2, r9
    fill q0, q1
5:
    movs r4, #0
.if \count == 5
    outputs 0, 1
.else
    outputs 0, 0
.if \count > 4
    /* the last four, some of them once more */
    movs r4, #0
    outputs \count - 4, 0
    mov r0, #\count - 4
    ldr r2, [r3, #ROW_CHANNELS]
    mls r5, r0, r2, r5
.endif
.endif
    strd r5, r1, [r3, #ROW_Y]
    ldr r0, [r3, #ROW_LEFT]
    subs r0, #GLUE_STRIP_CHANNELS
    str r0, [r3, #ROW_LEFT]
    bgt 1b
    vpop {d8-d15}
    pop {r4-r11, pc}
    .size glue_depthwise_row_\count\()_mve, . - glue_depthwise_row_\count\()_mve
.endm

    row 4
    row 5
    row 6
    row 7
    row 8

#endif
