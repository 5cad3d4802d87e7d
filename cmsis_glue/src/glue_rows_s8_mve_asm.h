/*
 * glue_rows_mve_asm.h for int8 codes: q6 is the zero point. Rows are read by bytes: they need no alignment. The stream
 * is 16-byte aligned and is read by words.
 */

#ifndef GLUE_ROWS_S8_MVE_ASM_H
#define GLUE_ROWS_S8_MVE_ASM_H

#define LOG_BYTES 0

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

#endif /* GLUE_ROWS_S8_MVE_ASM_H */
