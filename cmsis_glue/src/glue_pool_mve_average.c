#include "glue_pool_mve.h"

#include "glue_requantize_mve.h"

#include <stddef.h>

/* Cells whose sum fits in 16 bits. */
#define CELLS_IN_16_BITS 255

/* Sums of sixteen channels: lanes of one vector hold channels c, c + 2, .. (16 bits) or c, c + 4, .. (32 bits). */
typedef struct
{
    int32x4_t of[4]; /* channels 0, 2, 4, 6 | 1, 3, 5, 7 | 8, 10, 12, 14 | 9, 11, 13, 15 */
} pool_sums;

static inline void flush(pool_sums *sums, int16x8_t low, int16x8_t high)
{
    sums->of[0] = vaddq_s32(sums->of[0], vmovlbq_s16(low));
    sums->of[1] = vaddq_s32(sums->of[1], vmovltq_s16(low));
    sums->of[2] = vaddq_s32(sums->of[2], vmovlbq_s16(high));
    sums->of[3] = vaddq_s32(sums->of[3], vmovltq_s16(high));
}

/* Adds up cells of one line, at most CELLS_IN_16_BITS: all sixteen channels, or the first `channels` of them. */
static inline void sum_cells(const int8_t *x, int32_t cells, int32_t step, int32_t channels, pool_sums *sums)
{
    const mve_pred16_t first = vctp16q((uint32_t)channels);
    const mve_pred16_t second = vctp16q((uint32_t)glue_max(channels - GLUE_POOL_LANES / 2, 0));
    int16x8_t low = vdupq_n_s16(0);
    int16x8_t high = low;
    if (channels >= GLUE_POOL_LANES)
    {
        for (; cells > 0; cells--)
        {
            low = vaddq_s16(low, vldrbq_s16(x));
            high = vaddq_s16(high, vldrbq_s16(x + GLUE_POOL_LANES / 2));
            x += step;
        }
    }
    for (; cells > 0; cells--)
    {
        low = vaddq_s16(low, vldrbq_z_s16(x, first));
        high = vaddq_s16(high, vldrbq_z_s16(x + GLUE_POOL_LANES / 2, second));
        x += step;
    }
    flush(sums, low, high);
}

/* Adds up the window for the channels from c. Windows as wide as the image are one line. */
static inline void sum_window(const glue_pool_window *at, int32_t c, int32_t channels, pool_sums *sums)
{
    const int32_t wide = at->columns * at->pixel_step == at->row_step;
    const int32_t columns = wide ? at->rows * at->columns : at->columns;
    const int8_t *row = at->x + c;
    for (int32_t rows = wide ? 1 : at->rows; rows > 0; rows--)
    {
        const int8_t *x = row;
        for (int32_t left = columns; left > 0; left -= CELLS_IN_16_BITS)
        {
            sum_cells(x, glue_min(left, CELLS_IN_16_BITS), at->pixel_step, channels, sums);
            x += CELLS_IN_16_BITS * at->pixel_step;
        }
        row += at->row_step;
    }
}

/* sum / count, halves away from zero. reciprocal = 2^32 / count + 1 is exact for |sum| <= 128 count, count < 2^12. */
static inline int32x4_t mean(int32x4_t sum, uint32_t half, uint32_t reciprocal)
{
    const uint32x4_t size = vreinterpretq_u32_s32(vabsq_s32(sum));
    const int32x4_t quotient = vreinterpretq_s32_u32(vmulhq_u32(vaddq_n_u32(size, half), vdupq_n_u32(reciprocal)));
    return vnegq_m_s32(quotient, quotient, vcmpltq_n_s32(sum, 0));
}

static inline int32x4_t
requantize_sum(const glue_pool_mve_params *pool, const glue_pool_window *at, int32x4_t sum, int32_t entry)
{
    const int32_t offset = -pool->input_zero_point * at->rows * at->columns;
    return glue_requantize_mve(
        vaddq_n_s32(sum, offset), vdupq_n_s32(pool->multipliers[entry]), vdupq_n_s32(pool->shifts[entry]));
}

static void average_position(const glue_pool_mve_params *pool, const glue_pool_window *at, int8_t *y)
{
    const uint32_t count = (uint32_t)at->counted;
    const uint32_t reciprocal = count > 1 ? UINT32_MAX / count + 1 : 0;
    const int32_t entry = pool->table_size > 1 ? at->counted - 1 : 0;
    for (int32_t c = 0; c < pool->input.c; c += GLUE_POOL_LANES)
    {
        const int32_t left = pool->input.c - c;
        const mve_pred16_t first = vctp16q((uint32_t)left);
        const mve_pred16_t second = vctp16q((uint32_t)glue_max(left - GLUE_POOL_LANES / 2, 0));
        pool_sums sums = {{vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)}};
        sum_window(at, c, left, &sums);
        for (int32_t i = 0; i < 4; i++)
        {
            if (pool->multipliers != NULL)
            {
                sums.of[i] = requantize_sum(pool, at, sums.of[i], entry);
            }
            else if (count > 1)
            {
                sums.of[i] = mean(sums.of[i], count / 2, reciprocal);
            }
        }
        const int32_t zero_point = pool->output_zero_point;
        const cmsis_nn_activation *clamp = &pool->activation;
        vstrbq_p_s16(y + c, glue_narrow_mve(sums.of[0], sums.of[1], zero_point, clamp->min, clamp->max), first);
        vstrbq_p_s16(y + c + GLUE_POOL_LANES / 2,
                     glue_narrow_mve(sums.of[2], sums.of[3], zero_point, clamp->min, clamp->max),
                     second);
    }
}

arm_cmsis_nn_status glue_average_pool_s8_mve(const glue_pool_mve_params *pool, const int8_t *x, int8_t *y)
{
    return glue_pool_positions(pool, x, y, average_position);
}
