/* Gathering of the codes under windows of a convolution. */

#ifndef GLUE_MVE_WINDOW_H
#define GLUE_MVE_WINDOW_H

#include <stdint.h>

/*
 * Neighbouring windows of one line of outputs without gaps between their columns. Every line of every window has the
 * same run of bytes inside the image.
 */
typedef struct
{
    int32_t size;   /* bytes to fill before, from the start of each window; 0 where all lies in the image */
    int32_t skip;   /* from the start of a window to its first byte inside the image */
    int32_t line;   /* bytes from a line of a window to the next */
    int32_t inside; /* bytes of a line in the image, > 0 */
    int32_t lines;  /* lines in the image, > 0 */
    int32_t pitch;  /* from one line to the next in the image */
    int32_t step;   /* from one window to the next in the image */
    int32_t width;  /* from one window to the next in the scratch memory */
    int32_t count;  /* windows, > 0 */
} glue_mve_windows;

/* Gathers the windows from `to` on. `from` is the first byte inside the image. */
void glue_windows_mve(const glue_mve_windows *windows, const int8_t *from, int8_t *to, int32_t fill);

#endif /* GLUE_MVE_WINDOW_H */
