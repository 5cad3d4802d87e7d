/*
 * Types of the CMSIS-NN interface, as far as generated models use them.
 *
 * The names, members and their order are those of CMSIS-NN 4.0.0 to 7.x, so that a model compiles against this header
 * or against Arm's. Offsets follow that library: input_offset = -zero_point, output_offset = +zero_point.
 */

#ifndef ARM_NN_TYPES_H
#define ARM_NN_TYPES_H

#include <stdint.h>

/* What every kernel returns. */
typedef enum
{
    ARM_CMSIS_NN_SUCCESS = 0,
    ARM_CMSIS_NN_ARG_ERROR = -1,     /* shapes or parameters contradict each other; the output is undefined */
    ARM_CMSIS_NN_NO_IMPL_ERROR = -2, /* not returned by cmsis_glue */
    ARM_CMSIS_NN_FAILURE = -3,       /* not returned by cmsis_glue */
} arm_cmsis_nn_status;

/* A width and a height: stride, padding at the begin, dilation. */
typedef struct
{
    int32_t w;
    int32_t h;
} cmsis_nn_tile;

/* Scratch memory of one call. cmsis_glue needs none: buf may be NULL and size 0. */
typedef struct
{
    void *buf;
    int32_t size; /* bytes */
} cmsis_nn_context;

/* Dimensions of a tensor, [N, H, W, C]. */
typedef struct
{
    int32_t n;
    int32_t h;
    int32_t w;
    int32_t c;
} cmsis_nn_dims;

/* Requantisation per output channel. The pointers are not const in CMSIS-NN, although they are only read. */
typedef struct
{
    int32_t *multiplier; /* Q31, each 0 or in [2^30, 2^31) */
    int32_t *shift;      /* positive: left; each in [-31, 30] */
} cmsis_nn_per_channel_quant_params;

/* Requantisation of a whole tensor. */
typedef struct
{
    int32_t multiplier;
    int32_t shift;
} cmsis_nn_per_tensor_quant_params;

/* Output codes are clamped to [min, max], both within [-128, 127]. */
typedef struct
{
    int32_t min;
    int32_t max;
} cmsis_nn_activation;

typedef struct
{
    int32_t input_offset;
    int32_t output_offset;
    cmsis_nn_tile stride;
    cmsis_nn_tile padding;
    cmsis_nn_tile dilation;
    cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct
{
    int32_t input_offset;
    int32_t output_offset;
    int32_t ch_mult; /* C_OUT = C_IN * ch_mult */
    cmsis_nn_tile stride;
    cmsis_nn_tile padding;
    cmsis_nn_tile dilation;
    cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct
{
    cmsis_nn_tile stride;
    cmsis_nn_tile padding;
    cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct
{
    int32_t input_offset;
    int32_t filter_offset; /* must be 0: weights are symmetric */
    int32_t output_offset;
    cmsis_nn_activation activation;
} cmsis_nn_fc_params;

#endif /* ARM_NN_TYPES_H */
