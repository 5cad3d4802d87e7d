/*
 * void glue_windows_mve(const glue_mve_windows *windows, const int8_t *from, int8_t *to, int32_t fill)
 *
 * All loads and stores are of bytes: nothing needs alignment. Nothing outside the image is read.
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

    .syntax unified
    .thumb

    .section .text.glue_windows_mve, "ax", %progbits
    .balign 4
    .global glue_windows_mve
    .type glue_windows_mve, %function
    .thumb_func
glue_windows_mve:
    push {r4-r12, lr}
    vdup.8 q1, r3
    ldm r0, {r3-r11}        /* size, skip, line, inside, lines, pitch, step, width, count */
    cbz r3, 4f
    push {r4}
    mov r0, r2
    mov r12, r11
1:
    mov r4, r0
    wlstp.8 lr, r3, 3f
2:
    vstrb.8 q1, [r4], #16
    letp lr, 2b
3:
    add r0, r10
    subs r12, #1
    bne 1b
    pop {r4}
4:
    add r2, r4
    cmp r6, #16
    bhi 7f

    /* a vector holds a line: the same line of all windows and the next line, or one window and the next */
    vctp.8 r6
    cmp r7, r11
    bls 5f
    mov r0, r7
    mov r7, r11
    mov r11, r0
    mov r0, r8
    mov r8, r9
    mov r9, r0
    mov r0, r5
    mov r5, r10
    mov r10, r0
5:
    mov r0, r1
    mov r3, r2
    dls lr, r11
6:
    vpstt
    vldrbt.u8 q0, [r0]
    vstrbt.8 q0, [r3]
    add r0, r9
    add r3, r10
    le lr, 6b
    add r1, r8
    add r2, r5
    subs r7, #1
    bne 5b
    pop {r4-r12, pc}

    /* longer lines: window by window */
7:
    mov r12, r7
    mov r0, r1
    mov r4, r2
8:
    push {r0}
    mov r3, r4
    dlstp.8 lr, r6
9:
    vldrb.u8 q0, [r0], #16
    vstrb.8 q0, [r3], #16
    letp lr, 9b
    pop {r0}
    add r0, r8
    add r4, r5
    subs r12, #1
    bne 8b
    add r1, r9
    add r2, r10
    subs r11, #1
    bne 7b
    pop {r4-r12, pc}
    .size glue_windows_mve, . - glue_windows_mve

#endif
