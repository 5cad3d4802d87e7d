/* Clamping to eight bits in the one instruction most cores have for it. */

#ifndef GLUE_SATURATE_H
#define GLUE_SATURATE_H

#include <stdint.h>

#if defined(__GNUC__) && defined(__arm__) && defined(__ARM_FEATURE_SAT)
/* (value >> shift) clamped to [-128, 127]; shift is a constant in [1, 31]. */
#define GLUE_SHIFT_SATURATE(result, value, shift)                                                                      \
    __asm__("ssat %0, #8, %1, asr %2" : "=r"(result) : "r"(value), "I"(shift))
#else
#define GLUE_SHIFT_SATURATE(result, value, shift)                                                                      \
    do                                                                                                                 \
    {                                                                                                                  \
        const int32_t shifted = (value) >> (shift);                                                                    \
        (result) = shifted < -128 ? -128 : (shifted > 127 ? 127 : shifted);                                            \
    } while (0)
#endif

#endif /* GLUE_SATURATE_H */
