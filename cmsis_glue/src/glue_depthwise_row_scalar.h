/* The assembly of glue_depthwise_row_scalar(). */

#ifndef GLUE_DEPTHWISE_ROW_SCALAR_H
#define GLUE_DEPTHWISE_ROW_SCALAR_H

#include "glue_depthwise_row.h"

/* All three rows, the last two, the first two. */
void glue_depthwise_row_all_scalar(const glue_depthwise_row *row);
void glue_depthwise_row_last_scalar(const glue_depthwise_row *row);
void glue_depthwise_row_first_scalar(const glue_depthwise_row *row);

#endif /* GLUE_DEPTHWISE_ROW_SCALAR_H */
