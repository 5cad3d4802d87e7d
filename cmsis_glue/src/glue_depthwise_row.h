/* What the assembly of glue_depthwise_row_dsp() and glue_depthwise_row_scalar() is told of a row. */

#ifndef GLUE_DEPTHWISE_ROW_H
#define GLUE_DEPTHWISE_ROW_H

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
} glue_depthwise_row;

#endif /* GLUE_DEPTHWISE_ROW_H */
