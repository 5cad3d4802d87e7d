/* What the forms of the depthwise convolution for the DSP extension share. The assembly reads these structures. */

#ifndef GLUE_DEPTHWISE_DSP_H
#define GLUE_DEPTHWISE_DSP_H

#include "glue.h"

#include "glue_dsp_intrinsics.h"

#include <stdint.h>

/* Right shift of the short requantisation. */
#define GLUE_DEPTHWISE_SHIFT 11

/* Codes of one channel to copy to scratch memory as halfwords. */
typedef struct
{
    const int8_t *x;
    int16_t *to;
    int32_t lines;    /* >= 1 */
    int32_t elements; /* of a line, >= 1 */
    int32_t line_step;
    int32_t element_step;
    int32_t to_step; /* bytes from line to line */
} glue_depthwise_gather;

/* One channel of a band of output lines. */
typedef struct
{
    const int16_t *x;  /* first line the band reads, in scratch memory */
    int32_t next_row;  /* bytes from one line of the kernel to the next */
    int32_t next_line; /* bytes from the lines read for one output line to those for the next */
    int32_t lines;     /* output lines, >= 1 */
    int32_t elements;  /* outputs per line, >= 1 */
    int8_t *y;         /* first output */
    int32_t y_element; /* steps in the output */
    int32_t y_line;
    const int8_t *weights;
    int32_t factor; /* weights and bias are multiplied by 2^factor; it is in bias already */
    int32_t bias;
    int32_t multiplier;
    int32_t constant;
    int32_t zero; /* zero point of the output */
    int32_t is_short;
    int32_t is_signed; /* halves are rounded away from zero, not upwards */
    int32_t shift;     /* of the general requantisation, with the clamp in params */
    int16_t *spread;   /* scratch memory for the weights as halfwords */
    int32_t rows;      /* of the kernel */
    const glue_depthwise_dsp_params *params;
} glue_depthwise_band;

void glue_depthwise_gather_lines(const glue_depthwise_gather *job);

/*
 * Computes the outputs of one channel of a band in the short requantisation:
 *   (sum * multiplier / 2^32 + constant) >> GLUE_DEPTHWISE_SHIFT, or, where it is signed, as any one,
 *   zero + round(h / 2^shift) with h = sum * multiplier / 2^32 (see glue_high_dsp) and constant = -2^(32 - shift)
 */
typedef void (*glue_depthwise_body)(const glue_depthwise_band *band);

arm_cmsis_nn_status glue_depthwise_channels_dsp(const glue_depthwise_dsp_params *params,
                                                const int8_t *input,
                                                int8_t *output,
                                                void *scratch,
                                                glue_depthwise_body body);

/* The weights of band's channel in its scratch memory: halfwords with a zero after each line of odd length. */
void glue_depthwise_spread_weights(const glue_depthwise_band *band);

void glue_depthwise_5_lines(const glue_depthwise_band *band);
void glue_depthwise_5_stride2_lines(const glue_depthwise_band *band);

void glue_depthwise_3x3_body(const glue_depthwise_band *band);
void glue_depthwise_3x3_signed_body(const glue_depthwise_band *band);
void glue_depthwise_3x3_stride2_body(const glue_depthwise_band *band);
void glue_depthwise_3x3_stride2_signed_body(const glue_depthwise_band *band);

/* The short requantisation of one sum. */
static inline int8_t glue_depthwise_code(const glue_depthwise_band *band, int32_t sum, int32_t is_signed)
{
    if (is_signed)
    {
        const int32_t h = glue_away_dsp(glue_high_dsp(sum, band->multiplier));
        return (int8_t)glue_ssat8(glue_smmlsr(h, band->constant, band->zero));
    }
    return (int8_t)glue_ssat8(glue_smmla(sum, band->multiplier, band->constant) >> GLUE_DEPTHWISE_SHIFT);
}

#endif /* GLUE_DEPTHWISE_DSP_H */
