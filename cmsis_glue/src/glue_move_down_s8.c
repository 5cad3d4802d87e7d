#include "glue_rows.h"

#include "glue_mve_lanes.h"

#if !GLUE_MVE_ASM

#define WORDS 4

/* Four words at a time: all are read before the first is written, so the ranges may lie close together. */
static int32_t move_words(int8_t *to, const int8_t *from, int32_t count)
{
    int32_t done = 0;
    for (; done + 4 * WORDS <= count; done += 4 * WORDS)
    {
        uint32_t words[WORDS];
        memcpy(words, __builtin_assume_aligned(from + done, 4), sizeof words);
        memcpy(__builtin_assume_aligned(to + done, 4), words, sizeof words);
    }
    return done;
}
#endif

void glue_move_down_s8(int8_t *to, const int8_t *from, int32_t count)
{
#if GLUE_MVE_ASM
    glue_mve_copy(to, from, count); /* forwards */
#else
    int32_t i = (((uintptr_t)to | (uintptr_t)from) & 3u) == 0u ? move_words(to, from, count) : 0;
    for (; i < count; i++)
    {
        to[i] = from[i];
    }
#endif
}
