/* The C form; the assembly form is in glue_rows_mve.S. */

#include "glue_mve_groups.h"

#if !GLUE_MVE_ASM

void glue_rows_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
{
    glue_mve_pairs(filter, x, pitch, rows, y, glue_mve_sums);
}

#endif
