/* What the assembly tiles with int4 weights share; the C twin is glue_separate_s4_dsp. */

#ifndef GLUE_CONV_S4_DSP_ASM_H
#define GLUE_CONV_S4_DSP_ASM_H

#include "glue_conv_s4_dsp.h"
#include "glue_tile_dsp_asm.h"

/* From the sums below of the second and the fourth channel to twice the channel's own. */
#define SECOND 3
#define FOURTH 11

/* The sums of a group to S0, 16 S1, S2, 4096 S3. */
.macro apart first, second, third, fourth
    sub \fourth, \fourth, \second
    sub \second, \second, \first
    sub \third, \third, \first
    sub \fourth, \fourth, \third
    asr \third, \third, #8
.endm

#endif /* GLUE_CONV_S4_DSP_ASM_H */
