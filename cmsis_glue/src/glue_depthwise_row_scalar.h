/* The job of the assembly of glue_depthwise_row_scalar(). */

#ifndef GLUE_DEPTHWISE_ROW_SCALAR_H
#define GLUE_DEPTHWISE_ROW_SCALAR_H

#include <stdint.h>

typedef struct
{
    const int8_t *x; /* first row that is there */
    int8_t *y;
    const int32_t *stream;
    int32_t row_step;
    int32_t channels;
    int32_t columns; /* of the input, after those that the first two columns of windows are: >= 1 */
    int32_t zero;
    int32_t left; /* columns of padding, 0 or 1 */
    int32_t right;
} glue_depthwise_scalar_row;

/* All three rows, the last two, the first two. */
void glue_depthwise_row_all_scalar(const glue_depthwise_scalar_row *row);
void glue_depthwise_row_last_scalar(const glue_depthwise_scalar_row *row);
void glue_depthwise_row_first_scalar(const glue_depthwise_scalar_row *row);

#endif /* GLUE_DEPTHWISE_ROW_SCALAR_H */
