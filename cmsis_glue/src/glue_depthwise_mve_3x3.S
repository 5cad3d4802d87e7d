/* Strips of 3 x 3 kernels with stride 1: the twins of the C forms in glue_depthwise_mve_3x3.c. */

#include "glue_depthwise_mve_strip.h"

#if GLUE_ASM

#include "glue_depthwise_mve_strip_macros.h"

    .syntax unified
    .thumb

/* A step is two windows of 2 x 2 outputs, `advance` bytes from one another. q0-q3 weights. */
.macro blocks name, general, advance
    strip_begin \name
1:
    vldrw.u32 q0, [r0], #16
    vldrw.u32 q1, [r0], #16
    vldrw.u32 q2, [r0], #16
    vldrw.u32 q3, [r0], #16
    strip_channel \general, 3f
2:
    vldrw.u32 q4, [q6, #\advance]!
    vldrw.u32 q5, [q6, #\advance]!
    vmladav.s8 r0, q4, q0
    vmladav.s8 r2, q4, q1
    vmladav.s8 r4, q4, q2
    vmladav.s8 r6, q4, q3
    strip_lanes q4
    vmladav.s8 r0, q5, q0
    vmladav.s8 r2, q5, q1
    vmladav.s8 r4, q5, q2
    vmladav.s8 r6, q5, q3
    strip_lanes q5
    strip_codes \general
    le lr, 2b
3:
    strip_tail 2b
    vldrw.u32 q4, [q6, #\advance]!
    vmladav.s8 r0, q4, q0
    vmladav.s8 r2, q4, q1
    vmladav.s8 r4, q4, q2
    vmladav.s8 r6, q4, q3
    strip_lanes q4
    strip_half_codes \general
    strip_end \name, 1b
.endm

/* A step is four windows of 2 outputs. q0 and q1 weights. */
.macro pairs name, general
    strip_begin \name
1:
    vldrw.u32 q0, [r0], #16
    vldrw.u32 q1, [r0], #48
    strip_channel \general, 3f
2:
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE]!
    vldrw.u32 q3, [q6, #GLUE_STRIP_ADVANCE]!
    vmladav.s8 r0, q2, q0
    vmladav.s8 r2, q2, q1
    vmladav.s8 r4, q3, q0
    vmladav.s8 r6, q3, q1
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE]!
    vldrw.u32 q3, [q6, #GLUE_STRIP_ADVANCE]!
    strip_lanes q4
    vmladav.s8 r0, q2, q0
    vmladav.s8 r2, q2, q1
    vmladav.s8 r4, q3, q0
    vmladav.s8 r6, q3, q1
    strip_lanes q5
    strip_codes \general
    le lr, 2b
3:
    strip_tail 2b
    vldrw.u32 q2, [q6, #GLUE_STRIP_ADVANCE]!
    vldrw.u32 q3, [q6, #GLUE_STRIP_ADVANCE]!
    vmladav.s8 r0, q2, q0
    vmladav.s8 r2, q2, q1
    vmladav.s8 r4, q3, q0
    vmladav.s8 r6, q3, q1
    strip_lanes q4
    strip_half_codes \general
    strip_end \name, 1b
.endm

    blocks glue_strip_3x3_mve, 0, GLUE_STRIP_ADVANCE
    blocks glue_strip_3x3_general_mve, 1, GLUE_STRIP_ADVANCE
    blocks glue_strip_3x3_narrow_mve, 0, GLUE_STRIP_ADVANCE_NARROW
    blocks glue_strip_3x3_narrow_general_mve, 1, GLUE_STRIP_ADVANCE_NARROW
    pairs glue_strip_3x3_line_mve, 0
    pairs glue_strip_3x3_line_general_mve, 1

#endif
