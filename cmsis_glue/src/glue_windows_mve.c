/* The C form; the assembly form is in glue_windows_mve.S. */

#include "glue_mve_window.h"

#include "glue_mve_lanes.h"

#if !GLUE_MVE_ASM

void glue_windows_mve(const glue_mve_windows *windows, const int8_t *from, int8_t *to, int32_t fill)
{
    for (int32_t i = 0; i < windows->count; i++)
    {
        memset(to + i * windows->width, fill, (size_t)windows->size);
        for (int32_t line = 0; line < windows->lines; line++)
        {
            memcpy(to + i * windows->width + windows->skip + line * windows->line,
                   from + i * windows->step + line * windows->pitch,
                   (size_t)windows->inside);
        }
    }
}

#endif
