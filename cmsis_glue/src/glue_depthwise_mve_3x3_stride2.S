/* Strips of 3 x 3 kernels with stride 2: the twins of the C forms in glue_depthwise_mve_3x3_stride2.c. */

#include "glue_depthwise_mve_strip.h"

#if GLUE_ASM

#include "glue_depthwise_mve_strip_macros.h"

    .syntax unified
    .thumb

/*
 * void glue_strip_fill_stride2_mve(const glue_strip_lines *lines, uint8_t *cells, int32_t positions, int32_t channels)
 *
 * r0-r4 the five lines, r5-r9 their steps, r10 the cell of lines 0 to 3, r11 that of lines 2 to 5; there is no line 5.
 */
    .section .text.glue_strip_fill_stride2_mve, "ax", %progbits
    .balign 4
    .global glue_strip_fill_stride2_mve
    .type glue_strip_fill_stride2_mve, %function
glue_strip_fill_stride2_mve:
    push {r4-r11, lr}
    vpush {d8-d11}
    mov r10, r1
    vctp.8 r3
    dls lr, r2
    ldm r0, {r0-r9}
1:
    add r11, r10, #GLUE_STRIP_CELL
    vpstttt
    vldrbt.u8 q0, [r0]
    vldrbt.u8 q1, [r1]
    vldrbt.u8 q2, [r2]
    vldrbt.u8 q3, [r3]
    vpst
    vldrbt.u8 q4, [r4]
    add r0, r5
    add r1, r6
    add r2, r7
    add r3, r8
    add r4, r9
    vst40.8 {q0, q1, q2, q3}, [r10]
    vst41.8 {q0, q1, q2, q3}, [r10]
    vst42.8 {q0, q1, q2, q3}, [r10]
    vst43.8 {q0, q1, q2, q3}, [r10]
    vst40.8 {q2, q3, q4, q5}, [r11]
    vst41.8 {q2, q3, q4, q5}, [r11]
    vst42.8 {q2, q3, q4, q5}, [r11]
    vst43.8 {q2, q3, q4, q5}, [r11]!
    mov r10, r11
    le lr, 1b
    vpop {d8-d11}
    pop {r4-r11, pc}
    .size glue_strip_fill_stride2_mve, . - glue_strip_fill_stride2_mve

/* A step is four positions of two lines, one window for each output. q0 weights. */
.macro singles name, general
    strip_begin \name
1:
    vldrw.u32 q0, [r0], #16
    strip_channel \general, 3f
2:
    vldrw.u32 q1, [q6, #GLUE_STRIP_ADVANCE_POSITION]!
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE_LINE]!
    vmladav.s8 r0, q1, q0
    vmladav.s8 r4, q2, q0
    vldrw.u32 q1, [q6, #GLUE_STRIP_ADVANCE_POSITION]!
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE_LINE]!
    vmladav.s8 r2, q1, q0
    vmladav.s8 r6, q2, q0
    strip_lanes q4
    vldrw.u32 q1, [q6, #GLUE_STRIP_ADVANCE_POSITION]!
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE_LINE]!
    vmladav.s8 r0, q1, q0
    vmladav.s8 r4, q2, q0
    vldrw.u32 q1, [q6, #GLUE_STRIP_ADVANCE_POSITION]!
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE_LINE]!
    vmladav.s8 r2, q1, q0
    vmladav.s8 r6, q2, q0
    strip_lanes q5
    strip_codes \general
    le lr, 2b
3:
    strip_tail 2b
    vldrw.u32 q1, [q6, #GLUE_STRIP_ADVANCE_POSITION]!
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE_LINE]!
    vmladav.s8 r0, q1, q0
    vmladav.s8 r4, q2, q0
    vldrw.u32 q1, [q6, #GLUE_STRIP_ADVANCE_POSITION]!
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE_LINE]!
    vmladav.s8 r2, q1, q0
    vmladav.s8 r6, q2, q0
    strip_lanes q4
    strip_half_codes \general
    strip_end \name, 1b
.endm

/* Four windows of one line. */
.macro windows q
    vldrw.u32 q1, [q6, #GLUE_STRIP_ADVANCE]!
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE]!
    vmladav.s8 r0, q1, q0
    vmladav.s8 r2, q2, q0
    vldrw.u32 q1, [q6, #GLUE_STRIP_ADVANCE]!
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE]!
    vmladav.s8 r4, q1, q0
    vmladav.s8 r6, q2, q0
    strip_lanes \q
.endm

/* A step is eight positions of one line, one window for each output. q0 weights. */
.macro line name, general
    strip_begin \name
1:
    vldrw.u32 q0, [r0], #16
    strip_channel \general, 3f
2:
    windows q4
    windows q5
    strip_codes \general
    le lr, 2b
3:
    strip_tail 2b
    windows q4
    strip_half_codes \general
    strip_end \name, 1b
.endm

    singles glue_strip_3x3_stride2_mve, 0
    singles glue_strip_3x3_stride2_general_mve, 1
    line glue_strip_3x3_stride2_line_mve, 0
    line glue_strip_3x3_stride2_line_general_mve, 1

#endif
