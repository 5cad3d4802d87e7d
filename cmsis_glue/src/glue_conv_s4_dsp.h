/*
 * Inner loops of the layers with int4 weights for the DSP extension. Read by C and assembly; not for generated code.
 *
 * 16 bits W hold the weights of a tap for four channels, see glue_s4.h: W = (w0 + 8) + 16 (w1 + 8) + 256 (w2 + 8) + 4096
 * w3. A word has two taps and serves as it is, its even bytes, its even groups of 4 bits, and of these the even bytes:
 * the sums of codes times them are, with D = sum of (w + 8) of a channel, in the order of the sums of a tile,
 *   D0,  D0 + 16 D1,  D0 + 256 D2,  D0 + 16 D1 + 256 D2 + 4096 S3.
 * Taps with weights 0 and codes whose sum is minus that of all codes make S of D.
 */

#ifndef GLUE_CONV_S4_DSP_H
#define GLUE_CONV_S4_DSP_H

#define GLUE_EVEN_NIBBLES 0x0F0F0F0F

#ifndef __ASSEMBLER__

#include "glue_conv_dsp_tile.h"
#include "glue_dsp_intrinsics.h"
#include "glue_requantize_dsp.h"

#include <stdint.h>

/* Fills jumps. */
void glue_conv_s4_dsp_begin(glue_tile_dsp *tile);

/*
 * As glue_conv_dsp_tile, of which GLUE_TILE_SUMS is no form. A group: the four sums to begin with; a word for every pair
 * of taps; then for every channel its multiplier and scale. S1 and S2 have 24 bits, S3 has 20.
 */
void glue_conv_s4_dsp_tile(const glue_tile_dsp *tile);

/* Add the products of two codes and the weights of four channels. */
static inline void glue_accumulate_s4_dsp(int32_t *sums, uint32_t codes, uint32_t weights)
{
    const uint32_t even = weights & GLUE_EVEN_NIBBLES;
    sums[0] = glue_smlad(codes, glue_uxtb16(even), sums[0]);
    sums[1] = glue_smlad(codes, glue_uxtb16(weights), sums[1]);
    sums[2] = glue_smlad(codes, even, sums[2]);
    sums[3] = glue_smlad(codes, weights, sums[3]);
}

/* The sums of a group as glue_requantize_dsp_group takes them: S0, S0 + 256 S1, S2, S2 + 256 S3. */
static inline void glue_separate_s4_dsp(int32_t *sums)
{
    const uint32_t first = (uint32_t)sums[0];
    const uint32_t second = (uint32_t)sums[1] - first;
    const uint32_t third = (uint32_t)sums[2] - first;
    const uint32_t fourth = (uint32_t)sums[3] - (uint32_t)sums[1] - third;
    sums[1] = (int32_t)(first + (second << 4));
    sums[2] = (int32_t)third >> 8;
    sums[3] = glue_add_modulo(sums[2], (int32_t)fourth >> 4);
}

#endif /* __ASSEMBLER__ */

#endif /* GLUE_CONV_S4_DSP_H */
