/* Kernels for cores with MVE (Cortex-M55, M85). */

#ifndef GLUE_MVE_H
#define GLUE_MVE_H

#include "arm_nn_types.h"

#include <stdint.h>

#endif /* GLUE_MVE_H */
