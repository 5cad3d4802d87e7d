/*
 * The MVE intrinsics that the kernels use, in plain C: so that their C forms run on the host, where sanitizers see the
 * accesses of every lane. After the Armv8.1-M architecture reference manual; compared with the instructions by
 * test_mve_header.py.
 */

#ifndef HOST_ARM_MVE_H
#define HOST_ARM_MVE_H

#include <stdint.h>

/* Once in every file: inlined, the checks of the sanitizers take long to compile. */
#define MVE_FUNCTION static __attribute__((noinline, unused))

typedef int8_t int8x16_t __attribute__((vector_size(16)));
typedef int16_t int16x8_t __attribute__((vector_size(16)));
typedef int32_t int32x4_t __attribute__((vector_size(16)));
typedef uint16_t uint16x8_t __attribute__((vector_size(16)));
typedef uint32_t uint32x4_t __attribute__((vector_size(16)));

typedef struct
{
    int8x16_t val[4];
} int8x16x4_t;

/* One bit for each byte of a vector; a lane is active when the bit of its first byte is set. */
typedef uint16_t mve_pred16_t;

/* --- predicates ------------------------------------------------------------------------------------------------- */

MVE_FUNCTION int mve_active(mve_pred16_t p, int lane, int lane_bytes)
{
    return (p >> (lane * lane_bytes)) & 1;
}

MVE_FUNCTION mve_pred16_t mve_first_bytes(uint32_t lanes, uint32_t lane_bytes)
{
    return lanes >= 16 / lane_bytes ? (mve_pred16_t)0xFFFF : (mve_pred16_t)((1U << (lanes * lane_bytes)) - 1);
}

MVE_FUNCTION mve_pred16_t vctp8q(uint32_t lanes)
{
    return mve_first_bytes(lanes, 1);
}

MVE_FUNCTION mve_pred16_t vctp16q(uint32_t lanes)
{
    return mve_first_bytes(lanes, 2);
}

MVE_FUNCTION mve_pred16_t vctp32q(uint32_t lanes)
{
    return mve_first_bytes(lanes, 4);
}

MVE_FUNCTION mve_pred16_t vcmpltq_n_s32(int32x4_t a, int32_t b)
{
    mve_pred16_t p = 0;
    for (int i = 0; i < 4; i++)
    {
        p = (mve_pred16_t)(p | (a[i] < b ? 0xF << (4 * i) : 0));
    }
    return p;
}

/* --- loads and stores: lanes that are not active are neither read nor written ------------------------------------- */

#define MVE_LOAD(name, vector, lanes, element)                                                                         \
    MVE_FUNCTION vector name##_z(const element *from, mve_pred16_t p)                                                  \
    {                                                                                                                  \
        vector v = {0};                                                                                                \
        for (int i = 0; i < (lanes); i++)                                                                              \
        {                                                                                                              \
            v[i] = mve_active(p, i, 16 / (lanes)) ? from[i] : 0;                                                       \
        }                                                                                                              \
        return v;                                                                                                      \
    }                                                                                                                  \
    MVE_FUNCTION vector name(const element *from)                                                                      \
    {                                                                                                                  \
        return name##_z(from, 0xFFFF);                                                                                 \
    }

MVE_LOAD(mve_load_s8, int8x16_t, 16, int8_t)
MVE_LOAD(mve_load_s16, int16x8_t, 8, int8_t)
MVE_LOAD(mve_load_bytes_s32, int32x4_t, 4, int8_t)
MVE_LOAD(mve_load_s32, int32x4_t, 4, int32_t)
MVE_LOAD(mve_load_u16, uint16x8_t, 8, uint16_t)
MVE_LOAD(mve_load_half_s16, int16x8_t, 8, int16_t)
MVE_LOAD(mve_load_half_s32, int32x4_t, 4, int16_t)

#define vldrbq_s8 mve_load_s8
#define vldrbq_z_s8 mve_load_s8_z
#define vldrbq_s16 mve_load_s16
#define vldrbq_z_s16 mve_load_s16_z
#define vldrbq_s32 mve_load_bytes_s32
#define vldrwq_s32 mve_load_s32
#define vldrhq_s16 mve_load_half_s16
#define vldrhq_z_s32 mve_load_half_s32_z
#define vldrhq_z_s16 mve_load_half_s16_z
#define vldrhq_u16 mve_load_u16
#define vldrhq_z_u16 mve_load_u16_z

#define MVE_STORE(name, vector, lanes, element)                                                                        \
    MVE_FUNCTION void name##_p(element *to, vector v, mve_pred16_t p)                                                  \
    {                                                                                                                  \
        for (int i = 0; i < (lanes); i++)                                                                              \
        {                                                                                                              \
            if (mve_active(p, i, 16 / (lanes)))                                                                        \
            {                                                                                                          \
                to[i] = (element)v[i];                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    MVE_FUNCTION void name(element *to, vector v)                                                                      \
    {                                                                                                                  \
        name##_p(to, v, 0xFFFF);                                                                                       \
    }

MVE_STORE(mve_store_s8, int8x16_t, 16, int8_t)
MVE_STORE(mve_store_s16, int16x8_t, 8, int8_t)
MVE_STORE(mve_store_s32, int32x4_t, 4, int32_t)
MVE_STORE(mve_store_half_s16, int16x8_t, 8, int16_t)
MVE_STORE(mve_store_half_s32, int32x4_t, 4, int16_t)

#define vstrbq_s8 mve_store_s8
#define vstrbq_p_s8 mve_store_s8_p
#define vstrbq_s16 mve_store_s16
#define vstrbq_p_s16 mve_store_s16_p
#define vstrwq_s32 mve_store_s32
#define vstrhq_p_s16 mve_store_half_s16_p
#define vstrhq_p_s32 mve_store_half_s32_p

MVE_FUNCTION int16x8_t vldrbq_gather_offset_z_s16(const int8_t *base, uint16x8_t offsets, mve_pred16_t p)
{
    int16x8_t v = {0};
    for (int i = 0; i < 8; i++)
    {
        v[i] = mve_active(p, i, 2) ? base[offsets[i]] : 0;
    }
    return v;
}

/* Addresses have 32 bits there: an offset of 2^32 - n is one of -n. */
MVE_FUNCTION int32x4_t vldrwq_gather_offset_s32(const int32_t *base, uint32x4_t offsets)
{
    int32x4_t v = {0};
    for (int i = 0; i < 4; i++)
    {
        v[i] = *(const int32_t *)(const void *)((const char *)base + (int32_t)offsets[i]);
    }
    return v;
}

MVE_FUNCTION void vstrbq_scatter_offset_s16(int8_t *base, uint16x8_t offsets, int16x8_t v)
{
    for (int i = 0; i < 8; i++)
    {
        base[offsets[i]] = (int8_t)v[i];
    }
}

MVE_FUNCTION void vstrbq_scatter_offset_p_s32(int8_t *base, uint32x4_t offsets, int32x4_t v, mve_pred16_t p)
{
    for (int i = 0; i < 4; i++)
    {
        if (mve_active(p, i, 4))
        {
            base[(int32_t)offsets[i]] = (int8_t)v[i];
        }
    }
}

MVE_FUNCTION void vstrbq_scatter_offset_s32(int8_t *base, uint32x4_t offsets, int32x4_t v)
{
    vstrbq_scatter_offset_p_s32(base, offsets, v, 0xFFFF);
}

MVE_FUNCTION void vst4q_s8(int8_t *to, int8x16x4_t v)
{
    for (int i = 0; i < 64; i++)
    {
        to[i] = v.val[i % 4][i / 4];
    }
}

/* --- one value for all lanes, other views of a vector ------------------------------------------------------------- */

MVE_FUNCTION int8x16_t vdupq_n_s8(int8_t a)
{
    return (int8x16_t){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
}

MVE_FUNCTION int16x8_t vdupq_n_s16(int16_t a)
{
    return (int16x8_t){a, a, a, a, a, a, a, a};
}

MVE_FUNCTION int32x4_t vdupq_n_s32(int32_t a)
{
    return (int32x4_t){a, a, a, a};
}

MVE_FUNCTION uint32x4_t vdupq_n_u32(uint32_t a)
{
    return (uint32x4_t){a, a, a, a};
}

MVE_FUNCTION uint32x4_t vidupq_n_u32(uint32_t first, int step)
{
    const uint32_t d = (uint32_t)step;
    return (uint32x4_t){first, first + d, first + 2 * d, first + 3 * d};
}

#define vreinterpretq_s8_s16(a) ((int8x16_t)(a))
#define vreinterpretq_s8_s32(a) ((int8x16_t)(a))
#define vreinterpretq_s16_s8(a) ((int16x8_t)(a))
#define vreinterpretq_s16_s32(a) ((int16x8_t)(a))
#define vreinterpretq_s32_s16(a) ((int32x4_t)(a))
#define vreinterpretq_s32_u32(a) ((int32x4_t)(a))
#define vreinterpretq_u32_s32(a) ((uint32x4_t)(a))

/* --- lane by lane, modulo the size of a lane ---------------------------------------------------------------------- */

#define MVE_BINARY(name, vector, lanes, element, value)                                                                \
    MVE_FUNCTION vector name(vector a, vector b)                                                                       \
    {                                                                                                                  \
        vector v = {0};                                                                                                \
        for (int i = 0; i < (lanes); i++)                                                                              \
        {                                                                                                              \
            const int64_t x = a[i], y = b[i];                                                                          \
            v[i] = (element)(value);                                                                                   \
        }                                                                                                              \
        return v;                                                                                                      \
    }

MVE_FUNCTION int64_t mve_saturated(int64_t value, int bits)
{
    const int64_t limit = INT64_C(1) << (bits - 1);
    return value < -limit ? -limit : value >= limit ? limit - 1 : value;
}

/* a * 2^shift, rounded down or to nearest with halves up; the shift is the lowest byte, with a sign. */
MVE_FUNCTION int64_t mve_shifted(int64_t a, int64_t shift, int rounds)
{
    const int s = (int8_t)(uint8_t)(uint64_t)shift;
    if (s >= 0)
    {
        return s > 31 ? (a == 0 ? 0 : (a < 0 ? -1 : 1) * (INT64_C(1) << 62)) : a * (INT64_C(1) << s);
    }
    return s < -40 ? (rounds || a >= 0 ? 0 : -1) : (a + (rounds ? INT64_C(1) << (-s - 1) : 0)) >> -s;
}

MVE_BINARY(vaddq_s16, int16x8_t, 8, int16_t, x + y)
MVE_BINARY(vaddq_s32, int32x4_t, 4, int32_t, x + y)
MVE_BINARY(mve_add_u32, uint32x4_t, 4, uint32_t, x + y)
MVE_BINARY(vsubq_s32, int32x4_t, 4, int32_t, x - y)
MVE_BINARY(mve_sub_s16, int16x8_t, 8, int16_t, x - y)
MVE_BINARY(vandq_s32, int32x4_t, 4, int32_t, x & y)
MVE_BINARY(vmaxq_s8, int8x16_t, 16, int8_t, x > y ? x : y)
MVE_BINARY(vmaxq_s16, int16x8_t, 8, int16_t, x > y ? x : y)
MVE_BINARY(vmaxq_s32, int32x4_t, 4, int32_t, x > y ? x : y)
MVE_BINARY(vminq_s8, int8x16_t, 16, int8_t, x < y ? x : y)
MVE_BINARY(vminq_s16, int16x8_t, 8, int16_t, x < y ? x : y)
MVE_BINARY(vminq_s32, int32x4_t, 4, int32_t, x < y ? x : y)
MVE_BINARY(mve_qadd_s16, int16x8_t, 8, int16_t, mve_saturated(x + y, 16))
MVE_BINARY(mve_qadd_s32, int32x4_t, 4, int32_t, mve_saturated(x + y, 32))
MVE_BINARY(mve_mul_s32, int32x4_t, 4, int32_t, x * y)
MVE_BINARY(mve_mul_s16, int16x8_t, 8, int16_t, x * y)
MVE_BINARY(mve_mul_u32, uint32x4_t, 4, uint32_t, (uint64_t)x * (uint64_t)y)
MVE_BINARY(vmulhq_u32, uint32x4_t, 4, uint32_t, ((uint64_t)x * (uint64_t)y) >> 32)
MVE_BINARY(vqrdmulhq_s32, int32x4_t, 4, int32_t, mve_saturated((x * y + (INT64_C(1) << 30)) >> 31, 32))
MVE_BINARY(vqdmulhq_s32, int32x4_t, 4, int32_t, mve_saturated((x * y) >> 31, 32))
MVE_BINARY(mve_shl_s8, int8x16_t, 16, int8_t, mve_shifted(x, y, 0))
MVE_BINARY(vshlq_s32, int32x4_t, 4, int32_t, mve_shifted(x, y, 0))
MVE_BINARY(vqshlq_s32, int32x4_t, 4, int32_t, mve_saturated(mve_shifted(x, y, 0), 32))
MVE_BINARY(vrshlq_s32, int32x4_t, 4, int32_t, mve_shifted(x, y, 1))

#define vaddq_n_s32(a, b) vaddq_s32(a, vdupq_n_s32(b))
#define vaddq_n_u32(a, b) mve_add_u32(a, vdupq_n_u32(b))
#define vsubq_n_s16(a, b) mve_sub_s16(a, vdupq_n_s16(b))
#define vqaddq_n_s16(a, b) mve_qadd_s16(a, vdupq_n_s16(b))
#define vqaddq_n_s32(a, b) mve_qadd_s32(a, vdupq_n_s32(b))
#define vmulq_n_u32(a, b) mve_mul_u32(a, vdupq_n_u32(b))
#define vqrdmulhq_n_s32(a, b) vqrdmulhq_s32(a, vdupq_n_s32(b))
#define vqdmulhq_n_s32(a, b) vqdmulhq_s32(a, vdupq_n_s32(b))
#define vshlq_r_s32(a, b) vshlq_s32(a, vdupq_n_s32(b))
#define vshlq_n_s8(a, b) mve_shl_s8(a, vdupq_n_s8(b))
#define vshlq_n_s32(a, b) vshlq_s32(a, vdupq_n_s32(b))
#define vqshlq_r_s32(a, b) vqshlq_s32(a, vdupq_n_s32(b))
#define vrshlq_n_s32(a, b) vrshlq_s32(a, vdupq_n_s32(b))
#define vshrq_n_s32(a, n) vshlq_s32(a, vdupq_n_s32(-(n)))

/* VMLA multiplies the second vector, VMLAS the first. */
#define vmlaq_n_s32(a, b, c) vaddq_s32(a, mve_mul_s32(b, vdupq_n_s32(c)))
#define vmlasq_n_s16(a, b, c) vaddq_s16(mve_mul_s16(a, b), vdupq_n_s16(c))

MVE_FUNCTION int32x4_t vabsq_s32(int32x4_t a)
{
    int32x4_t v = {0};
    for (int i = 0; i < 4; i++)
    {
        v[i] = (int32_t)(a[i] < 0 ? 0U - (uint32_t)a[i] : (uint32_t)a[i]);
    }
    return v;
}

MVE_FUNCTION int32x4_t vnegq_m_s32(int32x4_t inactive, int32x4_t a, mve_pred16_t p)
{
    int32x4_t v = inactive;
    for (int i = 0; i < 4; i++)
    {
        v[i] = mve_active(p, i, 4) ? (int32_t)(0U - (uint32_t)a[i]) : inactive[i];
    }
    return v;
}

/* --- wider and narrower: B takes or fills the even lanes, T the odd ones ------------------------------------------ */

#define MVE_WIDEN(name, value)                                                                                         \
    MVE_FUNCTION int32x4_t name(int16x8_t a, int16x8_t b, int odd)                                                     \
    {                                                                                                                  \
        int32x4_t v = {0};                                                                                             \
        for (int i = 0; i < 4; i++)                                                                                    \
        {                                                                                                              \
            const int64_t x = a[2 * i + odd], y = b[2 * i + odd];                                                      \
            v[i] = (int32_t)(value);                                                                                   \
        }                                                                                                              \
        return v;                                                                                                      \
    }

MVE_WIDEN(mve_mull, x * y)
MVE_WIDEN(mve_shll, mve_shifted(x, y, 0))

#define vmullbq_int_s16(a, b) mve_mull(a, b, 0)
#define vmulltq_int_s16(a, b) mve_mull(a, b, 1)
#define vmovlbq_s16(a) mve_mull(a, vdupq_n_s16(1), 0)
#define vmovltq_s16(a) mve_mull(a, vdupq_n_s16(1), 1)
#define vshllbq_n_s16(a, n) mve_shll(a, vdupq_n_s16(n), 0)
#define vshlltq_n_s16(a, n) mve_shll(a, vdupq_n_s16(n), 1)

MVE_FUNCTION int16x8_t mve_narrow_s32(int16x8_t a, int32x4_t b, int odd)
{
    int16x8_t v = a;
    for (int i = 0; i < 4; i++)
    {
        v[2 * i + odd] = (int16_t)mve_saturated(b[i], 16);
    }
    return v;
}

#define vqmovnbq_s32(a, b) mve_narrow_s32(a, b, 0)
#define vqmovntq_s32(a, b) mve_narrow_s32(a, b, 1)

MVE_FUNCTION int8x16_t vqmovnbq_s16(int8x16_t a, int16x8_t b)
{
    int8x16_t v = a;
    for (int i = 0; i < 8; i++)
    {
        v[2 * i] = (int8_t)mve_saturated(b[i], 8);
    }
    return v;
}

/* --- across lanes ------------------------------------------------------------------------------------------------- */

MVE_FUNCTION int32_t vmladavaq_s8(int32_t sum, int8x16_t a, int8x16_t b)
{
    int64_t total = sum;
    for (int i = 0; i < 16; i++)
    {
        total += a[i] * b[i];
    }
    return (int32_t)total;
}

#define vmladavq_s8(a, b) vmladavaq_s8(0, a, b)

MVE_FUNCTION int64_t vmlaldavaq_s16(int64_t sum, int16x8_t a, int16x8_t b)
{
    for (int i = 0; i < 8; i++)
    {
        sum += a[i] * b[i];
    }
    return sum;
}

#define vmladavaq_s16(sum, a, b) ((int32_t)vmlaldavaq_s16(sum, a, b))

#endif /* HOST_ARM_MVE_H */
