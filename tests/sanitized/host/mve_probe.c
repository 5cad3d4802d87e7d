/*
 * Prints what every MVE intrinsic that the kernels use makes of random operands: on the host with mve/arm_mve.h, on a
 * core with the compiler's. Both must print the same.
 *
 * operands.h has the operands of a number of rounds.
 */

#include <arm_mve.h>
#include <stdint.h>
#include <string.h>

typedef struct
{
    int8_t bytes[16];
    int8_t more[16];
    int32_t words[4];
    int32_t others[4];
    int32_t shifts[4]; /* around -40 to 40, the upper bytes anything */
    int16_t halves[8];
    int16_t factors[8];
    int32_t scalar;
    uint32_t count;
    uint16_t active; /* predicates: of bytes, and of lanes as a whole */
    uint16_t active_halves;
    uint16_t active_words;
} operands;

#include "operands.h"

#if defined(__arm__)

extern uint32_t stack_top;
void reset(void);

static void semihost(int operation, const void *argument)
{
    register int r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(const char *text)
{
    semihost(4, text);
}

#else

#include <stdio.h>

static void print(const char *text)
{
    fputs(text, stdout);
}

#endif

static void show(const char *name, const void *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = data;
    char text[2 * 80 + 2];
    char *end = text;
    for (size_t i = 0; i < size; i++)
    {
        *end++ = digits[bytes[i] >> 4];
        *end++ = digits[bytes[i] & 15];
    }
    *end++ = '\n';
    *end = '\0';
    print(name);
    print(" ");
    print(text);
}

#define SHOW(type, value)                                                                                              \
    do                                                                                                                 \
    {                                                                                                                  \
        const type result = value;                                                                                     \
        show(#value, &result, sizeof result);                                                                          \
    } while (0)

/* What a store does to memory. */
#define SHOW_STORE(call)                                                                                               \
    do                                                                                                                 \
    {                                                                                                                  \
        _Alignas(int32_t) int8_t to[80];                                                                               \
        memset(to, 0x5A, sizeof to);                                                                                   \
        call;                                                                                                          \
        show(#call, to, sizeof to);                                                                                    \
    } while (0)

static void memory(const operands *o)
{
    const int8x16_t b = vldrbq_s8(o->bytes);
    const int16x8_t h = vldrbq_s16(o->bytes);
    const int32x4_t w = vldrwq_s32(o->words);
    const uint32x4_t steps = vmulq_n_u32(vidupq_n_u32(0, 1), 9);
    const uint32x4_t back = vaddq_n_u32(vmulq_n_u32(vidupq_n_u32(3, 4), 4), UINT32_MAX - 11);
    const uint16_t apart[8] = {3, 70, 9, 0, 22, 41, 63, 5};
    const uint16x8_t places = vldrhq_u16(apart);
    int8x16x4_t rows;
    rows.val[0] = b;
    rows.val[1] = vldrbq_s8(o->more);
    rows.val[2] = vreinterpretq_s8_s32(w);
    rows.val[3] = vreinterpretq_s8_s16(h);
    SHOW(int8x16_t, b);
    SHOW(int32x4_t, vldrbq_s32(o->bytes));
    SHOW(int16x8_t, h);
    SHOW(int32x4_t, w);
    SHOW(uint32x4_t, steps);
    SHOW(uint16x8_t, places);
    SHOW(int8x16_t, vldrbq_z_s8(o->bytes, o->active));
    SHOW(int16x8_t, vldrbq_z_s16(o->bytes, o->active_halves));
    SHOW(uint16x8_t, vldrhq_z_u16(apart, o->active_halves));
    SHOW(int16x8_t, vldrhq_s16(o->halves));
    SHOW(int32x4_t, vldrhq_z_s32(o->halves, o->active_words));
    SHOW(int16x8_t, vldrhq_z_s16(o->halves, o->active_halves));
    SHOW(int16x8_t, vldrbq_gather_offset_z_s16(o->bytes, places, o->active_halves));
    SHOW(int32x4_t, vldrwq_gather_offset_s32(o->words, back));
    SHOW_STORE(vstrbq_s8(to + 1, b));
    SHOW_STORE(vstrbq_p_s8(to + 1, b, o->active));
    SHOW_STORE(vstrbq_s16(to + 3, h));
    SHOW_STORE(vstrbq_p_s16(to + 3, h, o->active_halves));
    SHOW_STORE(vstrwq_s32((int32_t *)(void *)(to + 4), w));
    SHOW_STORE(vstrhq_p_s16((int16_t *)(void *)(to + 2), h, o->active_halves));
    SHOW_STORE(vstrhq_p_s32((int16_t *)(void *)(to + 6), w, o->active_words));
    SHOW_STORE(vstrbq_scatter_offset_s16(to + 2, places, h));
    SHOW_STORE(vstrbq_scatter_offset_s32(to + 7, steps, w));
    SHOW_STORE(vstrbq_scatter_offset_p_s32(to + 7, steps, w, o->active_words));
    SHOW_STORE(vst4q_s8(to + 4, rows));
}

static void predicates(const operands *o)
{
    const int32x4_t w = vldrwq_s32(o->words);
    SHOW(mve_pred16_t, vctp8q(o->count));
    SHOW(mve_pred16_t, vctp16q(o->count));
    SHOW(mve_pred16_t, vctp32q(o->count));
    SHOW(mve_pred16_t, vcmpltq_n_s32(w, o->scalar));
    SHOW(int32x4_t, vnegq_m_s32(w, vldrwq_s32(o->others), o->active_words));
    SHOW(int32x4_t, vabsq_s32(w));
}

static void words(const operands *o)
{
    const int32x4_t a = vldrwq_s32(o->words);
    const int32x4_t b = vldrwq_s32(o->others);
    const int32x4_t n = vldrwq_s32(o->shifts);
    const uint32x4_t u = vreinterpretq_u32_s32(a);
    const int32_t s = o->scalar;
    SHOW(int32x4_t, vaddq_s32(a, b));
    SHOW(int32x4_t, vaddq_n_s32(a, s));
    SHOW(uint32x4_t, vaddq_n_u32(u, (uint32_t)s));
    SHOW(int32x4_t, vqaddq_n_s32(a, s));
    SHOW(int32x4_t, vandq_s32(a, b));
    SHOW(int32x4_t, vsubq_s32(a, b));
    SHOW(int32x4_t, vmaxq_s32(a, b));
    SHOW(int32x4_t, vminq_s32(a, b));
    SHOW(int32x4_t, vmlaq_n_s32(a, b, s));
    SHOW(uint32x4_t, vmulq_n_u32(u, (uint32_t)s));
    SHOW(uint32x4_t, vmulhq_u32(u, vreinterpretq_u32_s32(b)));
    SHOW(int32x4_t, vqrdmulhq_s32(a, b));
    SHOW(int32x4_t, vqrdmulhq_n_s32(a, s));
    SHOW(int32x4_t, vqdmulhq_s32(a, b));
    SHOW(int32x4_t, vqdmulhq_n_s32(a, s));
    SHOW(int32x4_t, vshlq_s32(a, n));
    SHOW(int32x4_t, vqshlq_s32(a, n));
    SHOW(int32x4_t, vrshlq_s32(a, n));
    SHOW(int32x4_t, vqshlq_r_s32(a, o->shifts[0]));
    SHOW(int32x4_t, vshlq_r_s32(a, o->shifts[0]));
    SHOW(int32x4_t, vshlq_n_s32(a, 14));
    SHOW(int32x4_t, vrshlq_n_s32(a, o->shifts[1]));
    SHOW(int32x4_t, vshrq_n_s32(a, 31));
    SHOW(int32x4_t, vdupq_n_s32(s));
    SHOW(uint32x4_t, vdupq_n_u32(o->count));
    SHOW(int32x4_t, vreinterpretq_s32_u32(u));
}

static void halves_and_bytes(const operands *o)
{
    const int16x8_t a = vreinterpretq_s16_s8(vldrbq_s8((const int8_t *)o->halves));
    const int16x8_t b = vreinterpretq_s16_s8(vldrbq_s8((const int8_t *)o->factors));
    const int8x16_t x = vldrbq_s8(o->bytes);
    const int8x16_t y = vldrbq_s8(o->more);
    const int32x4_t w = vldrwq_s32(o->words);
    const int16_t s = o->factors[0];
    SHOW(int8x16_t, vshlq_n_s8(x, 4));
    SHOW(int16x8_t, vaddq_s16(a, b));
    SHOW(int16x8_t, vsubq_n_s16(a, s));
    SHOW(int16x8_t, vqaddq_n_s16(a, s));
    SHOW(int16x8_t, vmaxq_s16(a, b));
    SHOW(int16x8_t, vminq_s16(a, b));
    SHOW(int16x8_t, vmlasq_n_s16(a, b, s));
    SHOW(int16x8_t, vdupq_n_s16(s));
    SHOW(int16x8_t, vreinterpretq_s16_s32(w));
    SHOW(int32x4_t, vreinterpretq_s32_s16(a));
    SHOW(int32x4_t, vmullbq_int_s16(a, b));
    SHOW(int32x4_t, vmulltq_int_s16(a, b));
    SHOW(int32x4_t, vmovlbq_s16(a));
    SHOW(int32x4_t, vmovltq_s16(a));
    SHOW(int32x4_t, vshllbq_n_s16(a, 16));
    SHOW(int32x4_t, vshlltq_n_s16(a, 16));
    SHOW(int16x8_t, vqmovnbq_s32(a, w));
    SHOW(int16x8_t, vqmovntq_s32(a, w));
    SHOW(int8x16_t, vqmovnbq_s16(x, a));
    SHOW(int8x16_t, vmaxq_s8(x, y));
    SHOW(int8x16_t, vminq_s8(x, y));
    SHOW(int8x16_t, vdupq_n_s8(o->bytes[0]));
    SHOW(int32_t, vmladavq_s8(x, y));
    SHOW(int32_t, vmladavaq_s8(o->scalar, x, y));
    SHOW(int32_t, vmladavaq_s16(o->scalar, a, b));
    SHOW(int64_t, vmlaldavaq_s16(o->scalar * INT64_C(70000), a, b));
}

static void run(void)
{
    for (size_t round = 0; round < sizeof rounds / sizeof rounds[0]; round++)
    {
        memory(&rounds[round]);
        predicates(&rounds[round]);
        words(&rounds[round]);
        halves_and_bytes(&rounds[round]);
    }
}

#if defined(__arm__)

void reset(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xFU << 20; /* CPACR: floating point and MVE on */
    __asm volatile("dsb\n isb");
    run();
    semihost(0x18, (const void *)0x20026); /* ADP_Stopped_ApplicationExit */
    for (;;)
    {
    }
}

static void fault(void)
{
    print("fault\n");
    semihost(0x18, (const void *)0x20023);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, reset, fault, fault, fault, fault, fault};

#else

int main(void)
{
    run();
    return 0;
}

#endif
