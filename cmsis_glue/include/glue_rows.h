/* What a network that runs row by row needs besides kernels: moving rows, and means over a whole map. */

#ifndef GLUE_ROWS_H
#define GLUE_ROWS_H

#include "arm_nn_types.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

    /* Copies codes to a lower address; the ranges may overlap. */
    void glue_move_down_s8(int8_t *to, const int8_t *from, int32_t count);

    /*
     * Sums of the codes of each channel over a row [pixels, channels]. With add, they are added to what is in sums, else
     * sums begins with them.
     */
    arm_cmsis_nn_status
    glue_row_sums_s8(const int8_t *row, int32_t pixels, int32_t channels, int32_t add, int32_t *sums);

    /* Means of `count` codes from their sums, halves away from zero, then the clamp: as arm_avgpool_s8. */
    arm_cmsis_nn_status glue_sums_mean_s8(const int32_t *sums,
                                          int32_t channels,
                                          int32_t count,
                                          int32_t activation_min,
                                          int32_t activation_max,
                                          int8_t *output);

    /* clamp(requantize(sum - offset) + output_offset): as glue_avgpool_s8 for windows with one count of taps. */
    arm_cmsis_nn_status glue_sums_rescaled_s8(const int32_t *sums,
                                              int32_t channels,
                                              int32_t offset,
                                              int32_t multiplier,
                                              int32_t shift,
                                              int32_t output_offset,
                                              int32_t activation_min,
                                              int32_t activation_max,
                                              int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_ROWS_H */
