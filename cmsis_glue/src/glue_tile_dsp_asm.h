/*
 * What the assembly tiles for the DSP extension share; the C twins are in glue_requantize_dsp.h.
 *
 * r4-r11 sums, r0-r3 what was loaded last, r12 column, lr stream. The rest of glue_tile_dsp lies on the stack, jumps
 * included: where the loop is entered, what follows it, and what follows that.
 */

#ifndef GLUE_TILE_DSP_ASM_H
#define GLUE_TILE_DSP_ASM_H

#include "glue_conv_dsp_tile.h"
#include "glue_dsp_asm.h"

#define Y 0 /* and the step, and */
#define STREAM_END 8
#define COLUMN 12
#define COLUMN_END 16
#define ZERO 20
#define LOW 24 /* and the high end */
#define ENTRY 32
#define FINISH 36
#define STORE 40
#define FRAME 44

/* In glue_tile_dsp. */
#define TILE_COLUMN 16 /* and its end */
#define TILE_JUMPS 36
#define TILE_FORM 48
#define TILE_TAIL 52 /* and its end */

/*
 * Entry, finish and store (r1-r3) of the glue_tile_dsp at r0: the loop leaves out steps of the first round, a round has
 * 2^\round of them, which go 2^\bits bytes on in the column. Without sums there is no form for them.
 */
.macro jumps rectified, round, step_bytes, bits, sums=1
    ldrd r1, r2, [r0, #TILE_COLUMN]
    subs r1, r1, r2
    ubfx r1, r1, #\bits, #\round
    movs r2, #\step_bytes
    mul r1, r1, r2
    adr r2, .Lloop
    add r1, r1, r2
    ldr r12, [r0, #TILE_FORM]
    adr r3, .Lstore
    tst r12, #GLUE_TILE_CLAMPED
    it ne
    adrne r3, .Lclamp
    adr r2, .Lsigned
    cmp r12, #GLUE_TILE_RECTIFIED
    it eq
    adreq r2, \rectified
    .if \sums
    cmp r12, #GLUE_TILE_SUMS
    it eq
    adreq r2, .Lsums
    .endif
    orr r1, r1, #1
    orr r2, r2, #1
    orr r3, r3, #1
.endm

.macro leave frame
    add sp, sp, #\frame
    pop {r4-r11, pc}
.endm

/* The codes of two channels, of whose sums even is S0 and odd R; r0-r3 their multipliers and scales, r12 the zero. */
.macro requantise even, odd, signed
    sub \odd, \odd, \even
    requantise_apart \even, \odd, 7, \signed
.endm

/* Of the even sum and 2^(shift + 1) times the odd one. */
.macro requantise_apart even, odd, shift, signed
    high_product_added \even, \even, r0, \even
    asr \odd, \odd, #\shift
    high_product \odd, \odd, r2
    .if \signed
    away_from_zero \even
    away_from_zero \odd
    .endif
    smmlsr \even, \even, r1, r12
    smmlsr \odd, \odd, r3, r12
    .if \signed
    ssat \even, #8, \even
    ssat \odd, #8, \odd
    .endif
.endm

.macro pack a, b, c, d
    bfi \a, \b, #8, #8
    bfi \a, \c, #16, #8
    bfi \a, \d, #24, #8
.endm

/* The same for 16 bits and 128 too much. */
.macro pack_rectified a, b, c, d
    pkhbt \a, \a, \c, lsl #16
    pkhbt \b, \b, \d, lsl #16
    usat16 \a, #8, \a
    usat16 \b, #8, \b
    orr \a, \a, \b, lsl #8
    eor \a, \a, #0x80808080
.endm

/* low and high: four times the bounds. */
.macro clamp codes, low, high
    ssub8 r2, \codes, \low
    sel \codes, \codes, \low
    ssub8 r2, \high, \codes
    sel \codes, \codes, \high
.endm

/* 32-bit sums of two channels. */
.macro separate even, odd
    sub \odd, \odd, \even
    asr \odd, \odd, #8
.endm

/* After the last of the unrolled steps, each of which takes the same number of bytes. */
.macro finish_loop steps, step_bytes
.Lloop_end:
    .if .Lloop_end - .Lloop - \steps * \step_bytes
    .error "the loop is entered at multiples of step_bytes"
    .endif
    ldr r0, [sp, #COLUMN_END]
    cmp r12, r0
    bne .Lloop
    ldr pc, [sp, #FINISH]
.endm

/* Where the sums themselves are wanted. */
.macro finish_sums frame
    .balign 4
.Lsums:
    separate r4, r5
    separate r6, r7
    separate r8, r9
    separate r10, r11
    ldr r0, [sp, #Y]
    stm r0, {r4-r11}
    leave \frame
.endm

/* A function in a section of its own; its end is to be marked. */
.macro function name
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type \name, %function
    .thumb_func
\name:
.endm

/* The beginning of a function for two pixels, as far as its loop: sums start at the words of the stream. */
.macro two_pixels name
    .syntax unified
    .thumb
    function \name
    push {r4-r11, lr}
    ldm r0, {r1-r12}
    mov lr, r1
    push {r2-r12}

.Lgroup:
    ldr r12, [sp, #COLUMN]
    ldm lr, {r8-r11}
    ldm lr!, {r4-r7}
    ldr pc, [sp, #ENTRY]
.endm

/* The end of such a function: codes in r4 and r8. */
.macro clamp_two
    .balign 4
.Lclamp:
    ldrd r0, r1, [sp, #LOW]
    clamp r4, r0, r1
    clamp r8, r0, r1
    b .Lstore
.endm

.macro store_two name
    .balign 4
.Lstore:
    ldm sp, {r0-r2} /* y, step, end of the stream */
    str r8, [r0, r1]
    str r4, [r0], #4
    str r0, [sp, #Y]
    cmp lr, r2
    bne .Lgroup
    leave FRAME
    .size \name, . - \name
.endm

/* The function that puts the jumps of another one into its glue_tile_dsp. */
.macro jumps_of_tile name, round, step_bytes, sums=1
    .global \name
    .type \name, %function
    .thumb_func
\name:
    jumps .Lrectified, \round, \step_bytes, 3, \sums
    add r0, r0, #TILE_JUMPS
    stm r0, {r1-r3}
    bx lr
    .size \name, . - \name
.endm

/* The glue_tile_dsp at r0 as it is to be pushed from r2 on, with the jumps in r1-r3; lr the stream. */
.macro with_jumps
    mov r10, r1
    mov r11, r2
    mov r12, r3
    ldm r0, {r1-r9}
    mov lr, r1
.endm

/* The end of a function for one pixel: codes in r4. */
.macro clamp_one
    .balign 4
.Lclamp:
    ldrd r0, r1, [sp, #LOW]
    clamp r4, r0, r1
    b .Lstore
.endm

.macro store_one name
    .balign 4
.Lstore:
    ldr r0, [sp, #Y]
    str r4, [r0], #4
    str r0, [sp, #Y]
    ldr r0, [sp, #STREAM_END]
    cmp lr, r0
    bne .Lgroup
    leave FRAME
    .size \name, . - \name
.endm

#endif /* GLUE_TILE_DSP_ASM_H */
