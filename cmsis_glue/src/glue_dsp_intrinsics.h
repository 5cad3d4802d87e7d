/*
 * Instructions of the DSP extension as functions, each with a body in plain C of the same result: the kernels built on
 * them run on any machine. Not for generated code.
 *
 * A word of two int16 is called a pair: its low half is the first.
 */

#ifndef GLUE_DSP_INTRINSICS_H
#define GLUE_DSP_INTRINSICS_H

#include "glue_rounding.h"

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__arm__) && defined(__ARM_FEATURE_DSP) && !defined(GLUE_NO_DSP)
#define GLUE_DSP 1
#else
#define GLUE_DSP 0
#endif

/* Halves of a pair. */
static inline int32_t glue_low_half(uint32_t pair)
{
    return (int16_t)(uint16_t)pair;
}

static inline int32_t glue_high_half(uint32_t pair)
{
    return (int16_t)(uint16_t)(pair >> 16);
}

/* The pair of the low halves of two words. */
static inline uint32_t glue_pkhbt(uint32_t first, uint32_t second)
{
    return (first & 0xFFFFU) | (second << 16);
}

static inline int32_t glue_add_modulo(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* Four bytes at any address. */
static inline uint32_t glue_load32(const void *address)
{
    uint32_t word;
    memcpy(&word, address, sizeof word);
    return word;
}

static inline void glue_store32(void *address, uint32_t word)
{
    memcpy(address, &word, sizeof word);
}

/* sum + both products, modulo 2^32. */
static inline int32_t glue_smlad(uint32_t a, uint32_t b, int32_t sum)
{
#if GLUE_DSP
    int32_t result;
    __asm__("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
#else
    return (int32_t)((uint32_t)sum + (uint32_t)(glue_low_half(a) * glue_low_half(b)) +
                     (uint32_t)(glue_high_half(a) * glue_high_half(b)));
#endif
}

/* sum + product of halves: both low, the high one of a and the low one of b, both high; modulo 2^32. */
static inline int32_t glue_smlabb(uint32_t a, uint32_t b, int32_t sum)
{
#if GLUE_DSP
    int32_t result;
    __asm__("smlabb %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
#else
    return (int32_t)((uint32_t)sum + (uint32_t)(glue_low_half(a) * glue_low_half(b)));
#endif
}

static inline int32_t glue_smlatb(uint32_t a, uint32_t b, int32_t sum)
{
#if GLUE_DSP
    int32_t result;
    __asm__("smlatb %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
#else
    return (int32_t)((uint32_t)sum + (uint32_t)(glue_high_half(a) * glue_low_half(b)));
#endif
}

static inline int32_t glue_smlatt(uint32_t a, uint32_t b, int32_t sum)
{
#if GLUE_DSP
    int32_t result;
    __asm__("smlatt %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
#else
    return (int32_t)((uint32_t)sum + (uint32_t)(glue_high_half(a) * glue_high_half(b)));
#endif
}

/* The pair of bytes 0 and 2, sign-extended. */
static inline uint32_t glue_sxtb16(uint32_t bytes)
{
#if GLUE_DSP
    uint32_t result;
    __asm__("sxtb16 %0, %1" : "=r"(result) : "r"(bytes));
    return result;
#else
    return glue_pkhbt((uint32_t)(int32_t)(int8_t)(uint8_t)bytes, (uint32_t)(int32_t)(int8_t)(uint8_t)(bytes >> 16));
#endif
}

/* The pair of bytes 1 and 3, sign-extended. */
static inline uint32_t glue_sxtb16_odd(uint32_t bytes)
{
#if GLUE_DSP
    uint32_t result;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(bytes));
    return result;
#else
    return glue_sxtb16(bytes >> 8);
#endif
}

/* The pair of bytes 0 and 2, extended by zeros. */
static inline uint32_t glue_uxtb16(uint32_t bytes)
{
#if GLUE_DSP
    uint32_t result;
    __asm__("uxtb16 %0, %1" : "=r"(result) : "r"(bytes));
    return result;
#else
    return bytes & 0x00FF00FFU;
#endif
}

/* pair + bytes 0 and 2, or bytes 1 and 3, by halves, modulo 2^16. */
static inline uint32_t glue_sxtab16(uint32_t pair, uint32_t bytes)
{
#if GLUE_DSP
    uint32_t result;
    __asm__("sxtab16 %0, %1, %2" : "=r"(result) : "r"(pair), "r"(bytes));
    return result;
#else
    const uint32_t wide = glue_sxtb16(bytes);
    return glue_pkhbt(pair + wide, (pair >> 16) + (wide >> 16));
#endif
}

static inline uint32_t glue_sxtab16_odd(uint32_t pair, uint32_t bytes)
{
#if GLUE_DSP
    uint32_t result;
    __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(result) : "r"(pair), "r"(bytes));
    return result;
#else
    return glue_sxtab16(pair, bytes >> 8);
#endif
}

/* round(a * b / 2^32), halves towards plus infinity. */
static inline int32_t glue_smmulr(int32_t a, int32_t b)
{
#if GLUE_DSP
    int32_t result;
    __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
#else
    return (int32_t)(((int64_t)a * b + (INT64_C(1) << 31)) >> 32);
#endif
}

/* floor(a * b / 2^32). */
static inline int32_t glue_smmul(int32_t a, int32_t b)
{
#if GLUE_DSP
    int32_t result;
    __asm__("smmul %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
#else
    return (int32_t)(((int64_t)a * b) >> 32);
#endif
}

/* c + floor(a * b / 2^32), modulo 2^32. */
static inline int32_t glue_smmla(int32_t a, int32_t b, int32_t c)
{
#if GLUE_DSP
    int32_t result;
    __asm__("smmla %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
#else
    return (int32_t)((uint32_t)c + (uint32_t)(((int64_t)a * b) >> 32));
#endif
}

/* c + round(a * b / 2^32), halves towards plus infinity, modulo 2^32. */
static inline int32_t glue_smmlar(int32_t a, int32_t b, int32_t c)
{
#if GLUE_DSP
    int32_t result;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
#else
    return (int32_t)((uint32_t)c + (uint32_t)glue_smmulr(a, b));
#endif
}

/* c + round(-a * b / 2^32), halves towards plus infinity, modulo 2^32. */
static inline int32_t glue_smmlsr(int32_t a, int32_t b, int32_t c)
{
#if GLUE_DSP
    int32_t result;
    __asm__("smmlsr %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
#else
    return (int32_t)((uint32_t)c + (uint32_t)(((INT64_C(1) << 31) - (int64_t)a * b) >> 32));
#endif
}

/*
 * Requantisation: a * b / 2^32, c added to it, for a right shift to follow. It is rounded here unless the shift does all
 * the rounding; where it is a second one, halves go away from zero, which glue_away_dsp prepares.
 */
#if GLUE_SINGLE_ROUNDING
static inline int32_t glue_high_dsp(int32_t a, int32_t b)
{
    return glue_smmul(a, b);
}

static inline int32_t glue_high_added_dsp(int32_t a, int32_t b, int32_t c)
{
    return glue_smmla(a, b, c);
}

static inline int32_t glue_away_dsp(int32_t high)
{
    return high;
}
#else
static inline int32_t glue_high_dsp(int32_t a, int32_t b)
{
    return glue_smmulr(a, b);
}

static inline int32_t glue_high_added_dsp(int32_t a, int32_t b, int32_t c)
{
    return glue_smmlar(a, b, c);
}

static inline int32_t glue_away_dsp(int32_t high)
{
    return high + (high >> 31);
}
#endif

/* value in [-128, 127]. */
static inline int32_t glue_ssat8(int32_t value)
{
#if GLUE_DSP
    int32_t result;
    __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(value));
    return result;
#else
    return value > 127 ? 127 : (value < -128 ? -128 : value);
#endif
}

/* value in [-32768, 32767], and in [0, 32767]. */
static inline int32_t glue_ssat16(int32_t value)
{
#if GLUE_DSP
    int32_t result;
    __asm__("ssat %0, #16, %1" : "=r"(result) : "r"(value));
    return result;
#else
    return value > INT16_MAX ? INT16_MAX : (value < INT16_MIN ? INT16_MIN : value);
#endif
}

static inline int32_t glue_usat15(int32_t value)
{
#if GLUE_DSP
    int32_t result;
    __asm__("usat %0, #15, %1" : "=r"(result) : "r"(value));
    return result;
#else
    return value > INT16_MAX ? INT16_MAX : (value < 0 ? 0 : value);
#endif
}

/* The larger and the smaller of each of two int16. */
static inline uint32_t glue_max_s16x2(uint32_t a, uint32_t b)
{
#if GLUE_DSP
    uint32_t result;
    __asm__("ssub16 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b) : "cc");
    return result;
#else
    return glue_pkhbt(glue_low_half(a) >= glue_low_half(b) ? a : b,
                      (glue_high_half(a) >= glue_high_half(b) ? a : b) >> 16);
#endif
}

static inline uint32_t glue_min_s16x2(uint32_t a, uint32_t b)
{
#if GLUE_DSP
    uint32_t result;
    __asm__("ssub16 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(result) : "r"(a), "r"(b) : "cc");
    return result;
#else
    return glue_pkhbt(glue_low_half(a) >= glue_low_half(b) ? b : a,
                      (glue_high_half(a) >= glue_high_half(b) ? b : a) >> 16);
#endif
}

/* The larger of each of four int8. */
static inline uint32_t glue_max_s8x4(uint32_t a, uint32_t b)
{
#if GLUE_DSP
    uint32_t result;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b) : "cc");
    return result;
#else
    uint32_t result = 0;
    for (int32_t i = 0; i < 32; i += 8)
    {
        const uint32_t p = (a >> i) & 0xFFU, q = (b >> i) & 0xFFU;
        result |= ((int8_t)(uint8_t)p >= (int8_t)(uint8_t)q ? p : q) << i;
    }
    return result;
#endif
}

/* The smaller of each of four int8. */
static inline uint32_t glue_min_s8x4(uint32_t a, uint32_t b)
{
#if GLUE_DSP
    uint32_t result;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(result) : "r"(a), "r"(b) : "cc");
    return result;
#else
    uint32_t result = 0;
    for (int32_t i = 0; i < 32; i += 8)
    {
        const uint32_t p = (a >> i) & 0xFFU, q = (b >> i) & 0xFFU;
        result |= ((int8_t)(uint8_t)p >= (int8_t)(uint8_t)q ? q : p) << i;
    }
    return result;
#endif
}

/* The codes of four results, the first in the lowest byte; each is saturated before. */
static inline uint32_t glue_pack_s8x4(int32_t a, int32_t b, int32_t c, int32_t d)
{
    return ((uint32_t)a & 0xFFU) | ((uint32_t)b & 0xFFU) << 8 | ((uint32_t)c & 0xFFU) << 16 | (uint32_t)d << 24;
}

#endif /* GLUE_DSP_INTRINSICS_H */
