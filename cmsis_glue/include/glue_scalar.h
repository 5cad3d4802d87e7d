/* Kernels for cores without SIMD (Cortex-M0, M0+, M3). */

#ifndef GLUE_SCALAR_H
#define GLUE_SCALAR_H

#include "arm_nn_types.h"

#include <stdint.h>

#endif /* GLUE_SCALAR_H */
