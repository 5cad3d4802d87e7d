/*
 * void glue_rows_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
 *
 * Steps of 16 codes; q6 is the zero point. Rows are read by bytes: they need no alignment. The stream is 16-byte aligned
 * and is read by words.
 */

#include "glue_asm.h"

#if GLUE_ASM && defined(__ARM_FEATURE_MVE)

#include "glue_mve_asm.h"

    .syntax unified
    .thumb
    .text

#define ROWS glue_rows_mve
#define LOG_BYTES 0

    .macro products
    vldrw.u32 q2, [r5], #16
    vmladava.s8 r0, q0, q2
    vmladava.s8 r8, q1, q2
    vldrw.u32 q2, [r5], #16
    vmladava.s8 r2, q0, q2
    vmladava.s8 r10, q1, q2
    vldrw.u32 q2, [r5], #16
    vmladava.s8 r4, q0, q2
    vmladava.s8 r12, q1, q2
    vldrw.u32 q2, [r5], #16
    vmladava.s8 r6, q0, q2
    vmladava.s8 lr, q1, q2
    .endm

    .macro load_codes q, place:vararg
    vldrb.u8 \q, \place
    .endm
    .macro next_codes q, row
    vldrb.u8 \q, [\row], #16
    .endm
    .macro outputs_of_bytes outputs, bytes
    mov \outputs, \bytes
    .endm
    .macro outputs_beyond_groups outputs, bytes
    and \outputs, \bytes, #3
    .endm
    .macro add_zero
    vqadd.s16 q0, q0, q6
    .endm
    .macro narrow
    add_zero
    vqmovnb.s16 q0, q0
    .endm
    .macro narrow_rectified
    narrow
    .endm
    .macro store
    vstrb.16 q0, [r7, q7]
    adds r7, #4
    .endm

#include "glue_rows_mve_asm.h"

#endif
