/* Kernels for cores with the DSP extension (Cortex-M4, M7, M33). */

#ifndef GLUE_DSP_H
#define GLUE_DSP_H

#include "arm_nn_types.h"

#include <stdint.h>

#endif /* GLUE_DSP_H */
