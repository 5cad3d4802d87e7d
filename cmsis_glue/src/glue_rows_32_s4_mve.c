/* The C form; the assembly form is in glue_rows_32_s4_mve.S. */

#include "glue_s4_mve.h"

#include "glue_mve_few_taps.h"

#if !GLUE_MVE_ASM

void glue_rows_32_s4_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
{
    glue_few_taps_mve(filter, x, pitch, rows, y, 4);
}

#endif
