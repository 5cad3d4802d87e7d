/* Kernels for cores with MVE (Cortex-M55, M85). */

#ifndef GLUE_MVE_H
#define GLUE_MVE_H

#include "arm_nn_types.h"

#include <stdint.h>

/*
 * Products of int8 rows by a filter. All that depends on the filter alone lies in one stream of words, one block per
 * group of channels (4; 8 for glue_dense_mve). Rows are cut into steps of 16 codes; the last one is padded by zero
 * weights.
 *
 *   int32 biases of the group (the input's zero point folded in)
 *   int8  weights [steps][channels of the group][16]
 *   int32 left shifts of the group, >= 0; only when the form is general
 *   int32 multipliers of the group, Q31
 *   int32 minus the right shifts of the group
 *
 * A group that reaches past the last channel repeats that channel. In glue_dense_mve the tables behind the weights list
 * the channels 0, 2, 4, 6, 1, 3, 5, 7.
 */
typedef struct glue_filter_mve
{
    const int32_t *stream; /* 16-byte aligned */
    int32_t steps;         /* steps of 16 codes in a row */
    int32_t channels;      /* of the output, <= GLUE_MVE_MAX_CHANNELS */
    int32_t zero_point;    /* of the output */
    int32_t low;           /* bounds of the output */
    int32_t high;
    int32_t form;          /* one of GLUE_MVE_RECTIFIED, .. */

    /* glue_rows_single_mve: an odd last row by itself, where glue_rows_mve takes the others; or NULL */
    void (*single)(const struct glue_filter_mve *filter, const int8_t *x, int8_t *y);
} glue_filter_mve;

#define GLUE_MVE_MAX_CHANNELS 65532

/*
 * Forms of requantisation. The first two have no left shifts, low is -128 and high is 127. Rectified: the zero point is
 * -128, so that it does not matter how halves below zero are rounded. Signed: no right shift is 0, except where the
 * multiplier is.
 *
 * With GLUE_SINGLE_ROUNDING every right shift is 1 at least, except where the multiplier is 0, and left shifts of the
 * general form are one larger where that takes it; rectified has any zero point, signed is not needed.
 */
#define GLUE_MVE_RECTIFIED 0
#define GLUE_MVE_SIGNED 1
#define GLUE_MVE_GENERAL 2

/*
 * For glue_rows_32_mve the stream holds, for every pair of channels, with a single last channel twice:
 *
 *   int8  weights [steps][2][16]
 *   int32 two biases, two multipliers, minus two right shifts, zero point of the output
 *
 * It is for the rectified form only.
 */

/* 1 x 1 convolution, also with strides, and fully connected layer with several rows. */
typedef struct
{
    glue_filter_mve filter;
    int32_t depth;     /* codes in a row */
    int32_t pitch;     /* bytes from one row to the next, of the rows of one line */
    int32_t lines;     /* lines of rows */
    int32_t line_step; /* bytes from one line to the next */
    int32_t rows;      /* rows in the last line */
    int32_t direct;    /* rows of every line, read where they lie; those that the last line has above that, because
                          steps would leave the tensor, are copied first: then pitch is depth, line_step direct * pitch.
                          In glue_pointwise_32_mve, none or at least four are read, and copied */
} glue_pointwise_mve_layer;

/* Convolution of any geometry. */
typedef struct
{
    glue_filter_mve filter;
    int32_t fill;  /* code outside the image: zero point of the input */
    int32_t batch; /* windows gathered at a time; for glue_conv_32_mve at least 8, or all of at least 4 */
    int32_t x_height;
    int32_t x_width;
    int32_t x_channels;
    int32_t y_height;
    int32_t y_width;
    int32_t inside_end; /* columns of the output before the first one whose window leaves the image on the right */
    cmsis_nn_tile kernel;
    cmsis_nn_tile stride;
    cmsis_nn_tile padding;
    cmsis_nn_tile dilation;
} glue_conv_mve_layer;

/*
 * Convolution with a 3 x 3 kernel and strides of 1, of input channels in multiples of 16, with an even number of output
 * channels and lines of at least 4 outputs. The output is bounded by -128 and 127 only. In the stream, for every pair
 * of channels:
 *
 *   int32 bias of the first channel four times, of the second one four times
 *   int8  weights [steps][kernel rows][kernel columns][2][16]
 *   int32 two multipliers; signed; minus two right shifts, zero point of the output
 *
 * signed is 0 for the rectified form, 1 for the signed one; it is for no other.
 */
typedef struct
{
    const int32_t *stream; /* 16-byte aligned */
    int32_t steps;         /* steps of 16 input channels */
    int32_t channels;      /* of the output, <= GLUE_MVE_MAX_CHANNELS / 4 */
    int32_t fill;          /* code outside the image: zero point of the input */
    int32_t x_height;
    int32_t x_width;
    int32_t y_height;
    int32_t y_width;
    int32_t top; /* lines and columns before the image */
    int32_t left;
    int32_t in_place; /* 1: y is x: shapes are the same, top and left 1, the width a multiple of 4 */
} glue_conv_3x3_mve_layer;

#ifdef __cplusplus
extern "C"
{
#endif

    /* rows * channels outputs; row i is read at x + i * pitch, 16 * steps codes, and y written densely. */
    typedef void
    glue_rows_mve_function(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y);

    /* At least one row. */
    void glue_rows_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y);

    void glue_rows_single_mve(const glue_filter_mve *filter, const int8_t *x, int8_t *y);

    /* At least four rows, at most two steps; rows of two steps follow one another without gaps. */
    void glue_rows_32_mve(const glue_filter_mve *filter, const int8_t *x, int32_t pitch, int32_t rows, int8_t *y);

    /* scratch: (rows - direct) * 16 * steps bytes. */
    arm_cmsis_nn_status
    glue_pointwise_mve(const glue_pointwise_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    arm_cmsis_nn_status
    glue_pointwise_32_mve(const glue_pointwise_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    arm_cmsis_nn_status glue_pointwise_walk_mve(const glue_pointwise_mve_layer *layer,
                                                const int8_t *x,
                                                int8_t *y,
                                                int8_t *scratch,
                                                glue_rows_mve_function *multiply);

    /* scratch: batch * 16 * steps bytes. */
    arm_cmsis_nn_status glue_conv_mve(const glue_conv_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    arm_cmsis_nn_status glue_conv_32_mve(const glue_conv_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);
    arm_cmsis_nn_status glue_conv_walk_mve(const glue_conv_mve_layer *layer,
                                           const int8_t *x,
                                           int8_t *y,
                                           int8_t *scratch,
                                           glue_rows_mve_function *multiply);

    /* scratch: 288 * steps bytes, in place also 16 * steps for every line; 16-byte aligned. */
    arm_cmsis_nn_status
    glue_conv_3x3_mve(const glue_conv_3x3_mve_layer *layer, const int8_t *x, int8_t *y, int8_t *scratch);

    /* One row of `depth` codes. */
    arm_cmsis_nn_status glue_dense_mve(const glue_filter_mve *filter, int32_t depth, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

/* ---- end of convolutions and fully connected layers ---- */

#ifdef __cplusplus
extern "C"
{
#endif

    /* Depthwise convolution of NHWC codes, any geometry. */
    typedef struct
    {
        cmsis_nn_dims input;
        cmsis_nn_dims output; /* channels: those of the input, or a multiple */
        cmsis_nn_tile kernel;
        cmsis_nn_tile stride;
        cmsis_nn_tile padding;
        cmsis_nn_tile dilation;
        cmsis_nn_activation activation;
        int32_t input_zero_point;
        int32_t output_zero_point;
        const int8_t *weights;     /* [kernel.h][kernel.w][channels] */
        const int32_t *parameters; /* per 8 channels: biases, multipliers, shifts, of each first the 4 even channels */
        const uint16_t *sources;   /* input channel of every output channel; NULL: the same */
    } glue_depthwise_mve_params;

    /*
     * Channel c becomes clamp(Requantise(bias + sum of (x - input_zero_point) * weight) + output_zero_point) where x
     * outside the image is input_zero_point. Reads nothing outside of x, writes nothing outside of y.
     */
    arm_cmsis_nn_status glue_depthwise_s8_mve(const glue_depthwise_mve_params *layer, const int8_t *x, int8_t *y);

    /* One axis of a depthwise convolution. Steps are distances in codes. */
    typedef struct
    {
        int32_t input;
        int32_t output;
        int32_t padding; /* before the first, >= 0 */
        int32_t input_step;
        int32_t output_step;
    } glue_depthwise_axis_mve;

    /* How strips are worked on; the choice of generated code, so that only what is used is linked. */
    typedef struct glue_strip_form glue_strip_form;

    extern const glue_strip_form glue_depthwise_3x3_mve;
    extern const glue_strip_form glue_depthwise_3x3_general_mve;
    extern const glue_strip_form glue_depthwise_3x3_narrow_mve;
    extern const glue_strip_form glue_depthwise_3x3_narrow_general_mve;
    extern const glue_strip_form glue_depthwise_3x3_line_mve;
    extern const glue_strip_form glue_depthwise_3x3_line_general_mve;
    extern const glue_strip_form glue_depthwise_3x3_stride2_mve;
    extern const glue_strip_form glue_depthwise_3x3_stride2_general_mve;
    extern const glue_strip_form glue_depthwise_3x3_stride2_line_mve;
    extern const glue_strip_form glue_depthwise_3x3_stride2_line_general_mve;

    /* Depthwise convolution with a kernel of at most 3 x 3, without dilation; both strides 1 or both 2. */
    typedef struct
    {
        const glue_strip_form *form;
        const glue_strip_form *single; /* for stride 1, a line form: computes an odd last line by itself; or NULL */
        int32_t images;
        int32_t channels;
        int32_t image_step;
        int32_t output_image_step;
        glue_depthwise_axis_mve along;  /* the axis along which strips are cut: rows or columns */
        glue_depthwise_axis_mve across; /* the other one */
        int32_t span;                   /* outputs of one strip, in [4, along.output]; of a line form at least 8 */
        int32_t by_lines;               /* 1: all strips of some lines come before the next lines */
        int32_t in_place;               /* 1: y is x */
        int32_t input_zero_point;
        int32_t output_zero_point;
        cmsis_nn_activation activation; /* -128 to 127 unless the form is general */
        /*
         * One record of words per channel: 16 bytes of weights for each of the outputs of a window (stride 1: positions
         * p, p + 1 of the first line, of the second; stride 2: one output), byte 4 * position + line; then the bias
         * minus input_zero_point * sum of the weights, the multiplier and the right shift (<= 0); for general forms
         * also the left shift (>= 0) and 1 where the right shift is below 0. Other forms take no left shifts, and right
         * shifts below 0 only where output_zero_point is -128. With GLUE_SINGLE_ROUNDING right shifts are below 0, except
         * where the multiplier is 0, and the zero point does not matter.
         */
        const int32_t *weights;
    } glue_depthwise_strips_mve_params;

    /*
     * Results as those of glue_depthwise_s8_mve. scratch, 4-byte aligned: 64 * (span + 2) bytes, for stride 2
     * 128 * (2 * span + 1), half of that in the line form. Seven output steps of along plus that of across are below
     * 65536. across.output is at least 2 unless there is a line form; then span is at least 8. Narrow forms: 8 channels,
     * along the width, every strip with an even number of positions inside the image; scratch 32 * (span + 2) bytes. In
     * place: shapes are the same, strides 1, across.padding is at most 1, span is along.output, across.output is even
     * unless there is a single form; scratch along.input * channels bytes more.
     */
    arm_cmsis_nn_status glue_depthwise_strips_s8_mve(const glue_depthwise_strips_mve_params *layer,
                                                     const int8_t *x,
                                                     int8_t *y,
                                                     void *scratch);

    typedef struct glue_depthwise_row_job glue_depthwise_row_job;

    /*
     * One row of 4 to 8 outputs of a depthwise 3 x 3 convolution with strides of 1, bounds of -128 and 127, no left shifts,
     * and right shifts below 0 only where the zero point is -128 or with GLUE_SINGLE_ROUNDING, as in the strips.
     */
    typedef struct
    {
        void (*run)(glue_depthwise_row_job *job); /* that for the number of outputs */
        /*
         * For every four channels a record of words for 0, 2, 1, 3: 16 bytes of weights for the window at columns 0 to 2
         * of four, and 16 for that at columns 1 to 3, byte 4 * column + row; five times bias minus input_zero * sum of
         * the weights, with multiplier and right shift (<= 0) after it, of channels 2 and 3 before the last one. Then
         * the four multipliers and right shifts.
         */
        const int32_t *weights;
        int32_t channels; /* a multiple of 4, below 16384 */
        int32_t columns;  /* of the input */
        int32_t outputs;
        int32_t padding; /* columns before the input: 0 or 1; after it there is as much as the outputs need, 0 or 1 */
        int32_t missing; /* 0: three rows in the input; 1, 2: the first, the last one of the kernel is padding */
        int32_t input_zero;
        int32_t output_zero;
    } glue_depthwise_row_mve_params;

    /*
     * scratch, 4-byte aligned: 64 * (outputs + 2, one more for an odd number of them) bytes. y may lie on the first row of
     * x.
     */
    arm_cmsis_nn_status
    glue_depthwise_row_mve(const glue_depthwise_row_mve_params *params, const int8_t *x, int8_t *y, void *scratch);
    void glue_depthwise_row_4_mve(glue_depthwise_row_job *job);
    void glue_depthwise_row_5_mve(glue_depthwise_row_job *job);
    void glue_depthwise_row_6_mve(glue_depthwise_row_job *job);
    void glue_depthwise_row_7_mve(glue_depthwise_row_job *job);
    void glue_depthwise_row_8_mve(glue_depthwise_row_job *job);

    /* Elements lie in rows; operands go on by their steps from row to row: 0 repeats a row. */
    typedef struct
    {
        int32_t rows;
        int32_t size; /* of a row */
        int32_t a_step;
        int32_t b_step;
    } glue_rows_mve_dims;

    /* Sum of two tensors. The scale of a is the larger one. */
    typedef struct
    {
        glue_rows_mve_dims dims;
        int32_t a_zero_point;
        int32_t b_zero_point;
        int32_t b_multiplier; /* of scale b / (2 * scale a); b_shift <= 0 */
        int32_t b_shift;
        int32_t multiplier; /* of 2 * scale a / (2^20 * output scale) */
        int32_t shift;
        int32_t output_zero_point;
        cmsis_nn_activation activation;
    } glue_add_mve_params;

    /*
     *   t = (a - a_zero_point) * 2^19 + Requantise((b - b_zero_point) * 2^20, b_multiplier, b_shift)
     *   y = clamp(Requantise(t, multiplier, shift) + output_zero_point)
     * y may be a or b where that does not repeat. glue_add_s8_mve takes any parameters. The others are faster:
     *   clamped: shift <= 0, with GLUE_SINGLE_ROUNDING < 0
     *   rectified: also bounds of -128 and 127, and an output_zero_point of -128 unless shift is 0
     *   short: also a b_zero_point of -128 unless b_shift is 0
     * With GLUE_SINGLE_ROUNDING zero points do not matter, and a b_shift of 0 has the multiplier 2^30.
     */
    arm_cmsis_nn_status glue_add_s8_mve(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y);
    arm_cmsis_nn_status
    glue_add_clamped_s8_mve(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y);
    arm_cmsis_nn_status
    glue_add_rectified_s8_mve(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y);
    arm_cmsis_nn_status
    glue_add_short_s8_mve(const glue_add_mve_params *add, const int8_t *a, const int8_t *b, int8_t *y);

    /* Product of two tensors. */
    typedef struct
    {
        glue_rows_mve_dims dims;
        int32_t a_zero_point;
        int32_t b_zero_point;
        int32_t multiplier;
        int32_t shift;
        int32_t output_zero_point;
        cmsis_nn_activation activation;
    } glue_mul_mve_params;

    /* y = clamp(Requantise((a - a_zero_point) * (b - b_zero_point)) + output_zero_point). y may be one of them. */
    arm_cmsis_nn_status glue_mul_s8_mve(const glue_mul_mve_params *mul, const int8_t *a, const int8_t *b, int8_t *y);

    /* Maximum or mean over windows. Every window has cells inside the image. */
    typedef struct
    {
        cmsis_nn_dims input;
        cmsis_nn_dims output;
        cmsis_nn_tile kernel;
        cmsis_nn_tile stride;
        cmsis_nn_tile padding;
        cmsis_nn_tile padding_end; /* read when count_padding is not 0 */
        cmsis_nn_activation activation;
        /* The rest is for means. */
        int32_t count_padding;     /* not 0: cells of the padding count, as input_zero_point */
        int32_t input_zero_point;  /* with multipliers */
        int32_t output_zero_point; /* 0 without multipliers */
        int32_t table_size;        /* multipliers and shifts by count - 1, or 1 for all */
        const int32_t *multipliers; /* NULL: the mean of the codes, halves away from zero; at most 4095 cells */
        const int32_t *shifts;
    } glue_pool_mve_params;

    arm_cmsis_nn_status glue_max_pool_s8_mve(const glue_pool_mve_params *pool, const int8_t *x, int8_t *y);
    /* Requantise(sum of (x - input_zero_point) over the window) + output_zero_point, or the mean of the codes. */
    arm_cmsis_nn_status glue_average_pool_s8_mve(const glue_pool_mve_params *pool, const int8_t *x, int8_t *y);

#ifdef __cplusplus
}
#endif

#endif /* GLUE_MVE_H */
