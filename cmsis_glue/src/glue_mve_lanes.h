/*
 * What the C forms of the MVE kernels are made of: intrinsics with MVE, plain C elsewhere.
 *
 * GLUE_MVE_ASM is 1 where the assembly forms are taken.
 */

#ifndef GLUE_MVE_LANES_H
#define GLUE_MVE_LANES_H

#include "glue_asm.h"
#include "glue_internal.h"
#include "glue_mve.h"

#include <stddef.h>
#include <string.h>

#if defined(__ARM_FEATURE_MVE)
#include "glue_requantize_mve.h"
#define GLUE_MVE 1
#else
#define GLUE_MVE 0
#endif

#define GLUE_MVE_ASM (GLUE_MVE && GLUE_ASM)

/* Codes in one step of a row, and sums that are requantised together. */
#define GLUE_MVE_STEP 16
#define GLUE_MVE_LANES 4

/* Requantisation of four channels. */
typedef struct
{
    int32_t left[GLUE_MVE_LANES];
    int32_t multiplier[GLUE_MVE_LANES];
    int32_t right[GLUE_MVE_LANES]; /* minus the right shifts */
} glue_mve_scale;

/* Reads the tables behind the weights of a group; each is `pitch` words long. */
static inline glue_mve_scale glue_mve_read_scale(const int32_t *words, int32_t pitch, int32_t form)
{
    glue_mve_scale scale = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    if (form == GLUE_MVE_GENERAL)
    {
        memcpy(scale.left, words, sizeof scale.left);
        words += pitch;
    }
    memcpy(scale.multiplier, words, sizeof scale.multiplier);
    memcpy(scale.right, words + pitch, sizeof scale.right);
    return scale;
}

/* sums[c] += sum of x[i] * w[c * distance + i] over `codes` of one step, for `count` channels. */
static inline void glue_mve_accumulate(
    int32_t *sums, int32_t count, const int8_t *x, const int8_t *w, int32_t distance, int32_t codes)
{
#if GLUE_MVE
    const int8x16_t a = vldrbq_z_s8(x, vctp8q((uint32_t)codes));
    for (int32_t c = 0; c < count; c++)
    {
        sums[c] = vmladavaq_s8(sums[c], a, vldrbq_s8(w + c * distance));
    }
#else
    for (int32_t c = 0; c < count; c++)
    {
        for (int32_t i = 0; i < codes; i++)
        {
            /* partial sums may leave int32, whole ones do not */
            sums[c] = (int32_t)((uint32_t)sums[c] + (uint32_t)(x[i] * w[c * distance + i]));
        }
    }
#endif
}

/* Sums of `depth` codes of a row for the channels of the block at `stream`; returns what follows their weights. */
typedef const int32_t *glue_mve_sums_function(const glue_filter_mve *filter,
                                              const int32_t *stream,
                                              int32_t channels,
                                              const int8_t *x,
                                              int32_t depth,
                                              int32_t *sums);

static inline const int32_t *glue_mve_sums(const glue_filter_mve *filter,
                                           const int32_t *stream,
                                           int32_t channels,
                                           const int8_t *x,
                                           int32_t depth,
                                           int32_t *sums)
{
    memcpy(sums, stream, (size_t)channels * sizeof *sums);
    const int8_t *w = (const int8_t *)(stream + channels);
    for (int32_t i = 0; i < depth; i += GLUE_MVE_STEP)
    {
        glue_mve_accumulate(sums, channels, x + i, w, GLUE_MVE_STEP, glue_min(depth - i, GLUE_MVE_STEP));
        w += channels * GLUE_MVE_STEP;
    }
    return stream + channels + filter->steps * channels * GLUE_MVE_STEP / 4;
}

/* All rows; an odd last one by itself where the filter says so. */
static inline void glue_mve_multiply(const glue_filter_mve *filter,
                                     const int8_t *x,
                                     int32_t pitch,
                                     int32_t rows,
                                     int8_t *y,
                                     glue_rows_mve_function *multiply)
{
    const int32_t single = filter->single != NULL ? rows % 2 : 0, others = rows - single;
    if (others > 0)
    {
        multiply(filter, x, pitch, others, y);
    }
    if (single)
    {
        filter->single(filter, x + others * pitch, y + others * filter->channels);
    }
}

/* Requantise four sums, add the zero point, clamp; store the first `count`, `pitch` bytes apart. */
static inline void glue_mve_store(const glue_filter_mve *filter,
                                  const int32_t *sums,
                                  const glue_mve_scale *scale,
                                  int8_t *y,
                                  int32_t pitch,
                                  int32_t count)
{
#if GLUE_MVE
    int32x4_t v = vqshlq_s32(vldrwq_s32(sums), vldrwq_s32(scale->left));
    v = glue_high_mve(v, vldrwq_s32(scale->multiplier));
    v = vqaddq_n_s32(glue_shift_right_mve(v, vldrwq_s32(scale->right)), filter->zero_point);
    v = vmaxq_s32(vminq_s32(v, vdupq_n_s32(filter->high)), vdupq_n_s32(filter->low));
    const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)pitch);
    vstrbq_scatter_offset_p_s32(y, places, v, vctp32q((uint32_t)count));
#else
    for (int32_t c = 0; c < count; c++)
    {
        const int64_t wide = (int64_t)sums[c] * (INT64_C(1) << scale->left[c]);
        const int32_t saturated = wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
        const int32_t code = glue_requantize(saturated, scale->multiplier[c], scale->right[c]);
        /* far from the ends of int32 before the zero point is added */
        const int32_t near = glue_min(glue_max(code, -512), 511);
        y[c * pitch] = glue_clamp_s8(near + filter->zero_point, filter->low, filter->high);
    }
#endif
}

/* Copies `count` >= 0 codes, and reads and writes no others. */
static inline void glue_mve_copy(int8_t *to, const int8_t *from, int32_t count)
{
#if GLUE_MVE_ASM
    __asm volatile("wlstp.8 lr, %2, 2f\n"
                   "1: vldrb.8 q0, [%1], #16\n"
                   "vstrb.8 q0, [%0], #16\n"
                   "letp lr, 1b\n"
                   "2:"
                   : "+r"(to), "+r"(from)
                   : "r"(count)
                   : "lr", "q0", "memory");
#else
    memcpy(to, from, (size_t)count);
#endif
}

#endif /* GLUE_MVE_LANES_H */
