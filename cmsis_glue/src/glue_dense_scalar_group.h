/* Groups of eight channels of one row, between glue_dense_scalar.c and its inner loops. Read by C and assembly. */

#ifndef GLUE_DENSE_SCALAR_GROUP_H
#define GLUE_DENSE_SCALAR_GROUP_H

/* Offsets in glue_scalar_product, for assembly. */
#define PRODUCT_DEPTH 12
#define PRODUCT_EPILOGUE 20

#ifndef __ASSEMBLER__

#include "glue_scalar.h"

/* `count` >= 0 groups, eight outputs each. */
void glue_dense_scalar_groups(
    const int8_t *x, int8_t *y, const int32_t *stream, const glue_scalar_product *product, int32_t count);

/* The epilogue GLUE_SCALAR_GENERAL of a group. */
void glue_dense_scalar_general(const int32_t *sums, const int32_t *numbers, int8_t *y, const glue_scalar_product *product);

#endif /* __ASSEMBLER__ */

#endif /* GLUE_DENSE_SCALAR_GROUP_H */
