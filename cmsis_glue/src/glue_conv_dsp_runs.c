/* Codes of two windows to pairs. The assembly twin is glue_conv_dsp_runs.S. */

#include "glue_asm.h"
#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"

#if !GLUE_ASM

int32_t *glue_conv_dsp_runs(const glue_runs_dsp *runs, int32_t *column)
{
    const int32_t whole = runs->length / 4 * 4, rest = runs->length % 4;
    int32_t a = 0, b = 0;
    for (int32_t run = 0; run < runs->count; run++)
    {
        for (const int32_t end = a + whole; a != end; a += 4, b += 4)
        {
            const uint32_t p = glue_load32(runs->a + a), q = glue_load32(runs->b + b);
            *column++ = (int32_t)glue_sxtb16(p);
            *column++ = (int32_t)glue_sxtb16(q);
            *column++ = (int32_t)glue_sxtb16_odd(p);
            *column++ = (int32_t)glue_sxtb16_odd(q);
        }
        if (rest != 0)
        {
            const int8_t *p = runs->a + a, *q = runs->b + b;
            *column++ = (int32_t)glue_pkhbt((uint32_t)p[0], (uint32_t)p[rest - 1]);
            *column++ = (int32_t)glue_pkhbt((uint32_t)q[0], (uint32_t)q[rest - 1]);
            if (rest == 3)
            {
                *column++ = p[1];
                *column++ = q[1];
            }
        }
        a += runs->a_gap;
        b += runs->b_gap;
    }
    return column;
}

#endif
