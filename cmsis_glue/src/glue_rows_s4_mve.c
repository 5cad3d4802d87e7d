/* The C form; the assembly form is in glue_rows_s4_mve.S. */

#include "glue_s4_mve.h"

#include "glue_mve_groups.h"
#include "glue_mve_lanes_s4.h"

#if !GLUE_MVE_ASM

void glue_rows_s4_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y)
{
    glue_mve_pairs(filter, x, pitch, rows, y, glue_sums_s4_mve);
}

#endif
