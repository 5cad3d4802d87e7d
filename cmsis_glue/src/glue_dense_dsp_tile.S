/*
 * One pixel times eight channels: void glue_dense_dsp_tile(const glue_tile_dsp *). The C twin is glue_dense_dsp_tile.c.
 * r4-r11 S0 R01 S2 R23 S4 R45 S6 R67.
 */
#include "glue_asm.h"

#if GLUE_ASM

#include "glue_tile_dsp_asm.h"

#define STEP_BYTES 124 /* four codes */
#define STEPS 4        /* of the unrolled loop */

/* On the stack behind the rest: the words after the codes, and what follows them. */
#define TAIL FRAME
#define TAIL_END (FRAME + 4)
#define TAIL_FINISH (FRAME + 8)
#define WHOLE_FRAME (FRAME + 12)

/* A pair of taps in x times four channels. */
.macro multiply x, s0, r01, s2, r23
    ldrd r2, r3, [lr], #8
    smlad \r01, \x, r2, \r01
    smlad \r23, \x, r3, \r23
    sxtb16 r2, r2
    sxtb16 r3, r3
    smlad \s0, \x, r2, \s0
    smlad \s2, \x, r3, \s2
.endm

.macro four_codes
    ldr r0, [r12], #4
    sxtb16 r1, r0
    multiply r1, r4, r5, r6, r7
    multiply r1, r8, r9, r10, r11
    sxtb16 r1, r0, ror #8
    multiply r1, r4, r5, r6, r7
    multiply r1, r8, r9, r10, r11
.endm

    .syntax unified
    .thumb
    function glue_dense_dsp_tile
    push {r4-r11, lr}
    jumps .Lsigned, 2, STEP_BYTES, 2
    ldrd r4, r5, [r0, #TILE_COLUMN]
    cmp r4, r5
    itt eq
    adreq r1, .Lloop_end
    orreq r1, r1, #1
    ldrd r10, r11, [r0, #TILE_TAIL]
    mov r12, r2
    cmp r10, r11
    itt ne
    adrne r2, .Ltail
    orrne r2, r2, #1
    push {r10-r12}
    with_jumps
    push {r2-r12}

.Lgroup:
    ldr r12, [sp, #COLUMN]
    ldm lr!, {r4-r11}
    ldr pc, [sp, #ENTRY]

    .balign 4
.Lloop:
    .rept STEPS
    four_codes
    .endr
    finish_loop STEPS, STEP_BYTES

    .balign 4
.Ltail:
    ldr r12, [sp, #TAIL]
1:
    four_codes
    ldr r0, [sp, #TAIL_END]
    cmp r12, r0
    bne 1b
    ldr pc, [sp, #TAIL_FINISH]

    finish_sums WHOLE_FRAME

    .balign 4
.Lsigned:
    ldr r12, [sp, #ZERO]
    ldm lr!, {r0-r3}
    requantise r4, r5, 1
    ldm lr!, {r0-r3}
    requantise r6, r7, 1
    ldm lr!, {r0-r3}
    requantise r8, r9, 1
    ldm lr!, {r0-r3}
    requantise r10, r11, 1
    pack r4, r5, r6, r7
    pack r8, r9, r10, r11
    ldr pc, [sp, #STORE]

    .balign 4
.Lclamp:
    ldrd r0, r1, [sp, #LOW]
    clamp r4, r0, r1
    clamp r8, r0, r1

    .balign 4
.Lstore:
    ldr r0, [sp, #Y]
    str r4, [r0], #4
    str r8, [r0], #4
    str r0, [sp, #Y]
    ldr r0, [sp, #STREAM_END]
    cmp lr, r0
    bne .Lgroup
    leave WHOLE_FRAME
    .size glue_dense_dsp_tile, . - glue_dense_dsp_tile

#endif
