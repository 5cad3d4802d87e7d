/* Integer square roots. */

#ifndef GLUE_ROOT_H
#define GLUE_ROOT_H

#include <stdint.h>

/* floor(sqrt(value)): one bit of the root per step, from the highest. */
static inline uint32_t glue_square_root(uint64_t value)
{
    uint64_t root = 0;
    uint64_t bit = UINT64_C(1) << 62;
    while (bit > value)
    {
        bit >>= 2;
    }
    for (; bit != 0; bit >>= 2)
    {
        if (value >= root + bit)
        {
            value -= root + bit;
            root = (root >> 1) + bit;
        }
        else
        {
            root >>= 1;
        }
    }
    return (uint32_t)root;
}

#endif /* GLUE_ROOT_H */
