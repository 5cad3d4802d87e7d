/* The assembly of glue_depthwise_row_dsp(). */

#ifndef GLUE_DEPTHWISE_ROW_DSP_H
#define GLUE_DEPTHWISE_ROW_DSP_H

#include "glue_depthwise_row.h"

/* All three rows, the last two, the first two. */
void glue_depthwise_row_all(const glue_depthwise_row *job);
void glue_depthwise_row_last(const glue_depthwise_row *job);
void glue_depthwise_row_first(const glue_depthwise_row *job);

#endif /* GLUE_DEPTHWISE_ROW_DSP_H */
