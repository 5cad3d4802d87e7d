/*
 * 3x3 depthwise convolutions for cores without SIMD: everything but the lines, which Armv7-M and Armv6-M run their own
 * way. Not for generated code.
 */

#ifndef GLUE_DEPTHWISE_SCALAR_3X3_H
#define GLUE_DEPTHWISE_SCALAR_3X3_H

#include "glue_depthwise_scalar_line.h"
#include "glue_scalar_internal.h"

/* Runs prepared lines. */
typedef void (*glue_lines_function)(const glue_depthwise_scalar_lines *run);

/* Words of a channel's stream: 9 codes fill three. */
#define DEPTHWISE_3X3_WORDS (DEPTHWISE_CODES + 3)

/* One axis of the layer. */
typedef struct
{
    int32_t size;    /* of the image */
    int32_t outputs;
    int32_t padding; /* before */
    int32_t step;    /* between codes of a channel in x */
    int32_t y_step;  /* and in y */
} glue_axis;

/*
 * Prepares the weights and biases of lines that miss `skipped` rows of taps before them (< 0: behind them). `fold`: the
 * bias may go into the constant.
 */
static inline void glue_load_weights(glue_depthwise_scalar_lines *run,
                                     const int32_t *stream,
                                     int32_t skipped,
                                     int32_t zero_point,
                                     int32_t fold)
{
    int32_t totals[3] = {0, 0, 0};
    const int8_t *from = (const int8_t *)(stream + DEPTHWISE_CODES) + skipped * 3;
    for (int32_t row = skipped; row < skipped + 3; row++)
    {
        int32_t w[3] = {0, 0, 0};
        if (row >= 0 && row < 3)
        {
            w[0] = from[0];
            w[1] = from[1];
            w[2] = from[2];
        }
        from += 3;
        run->outer[row - skipped][0] = w[0];
        run->middle[row - skipped] = w[1];
        run->outer[row - skipped][1] = w[2];
        totals[0] += w[0];
        totals[1] += w[1];
        totals[2] += w[2];
    }
    const int32_t bias = stream[1] - zero_point * (totals[0] + totals[1] + totals[2]);
    run->numbers[1] = stream[3];
    run->numbers[2] = stream[4];
    run->bias = bias;
    if (fold && run->rectified)
    {
        const uint64_t constant = (uint64_t)((int64_t)bias * stream[2] + glue_scalar_constant(stream + 2));
        run->numbers[1] = (int32_t)(uint32_t)constant;
        run->numbers[2] = (int32_t)(uint32_t)(constant >> 32);
        run->bias = 0;
    }
    run->first = run->bias + zero_point * totals[0];
    run->last = zero_point * totals[2];
}

/* All lines of one channel. */
static inline void glue_run_channel(glue_depthwise_scalar_lines *run,
                                    const glue_depthwise_scalar_layer *layer,
                                    const int32_t *stream,
                                    const glue_axis *across,
                                    const int8_t *x,
                                    int8_t *y,
                                    glue_lines_function lines,
                                    int32_t fold)
{
    const int32_t stride = layer->stride.w;
    run->numbers[0] = stream[2];
    run->numbers[3] = stream[5];
    int32_t line = 0;
    while (line < across->outputs)
    {
        const int32_t start = line * stride - across->padding;
        const int32_t inside = glue_max(0, glue_min(start, across->size - 3));
        run->lines = 1;
        if (inside == start)
        {
            const int32_t whole = (across->size - 3 + across->padding) / stride + 1;
            run->lines = glue_min(whole, across->outputs) - line;
        }
        glue_load_weights(run, stream, inside - start, layer->input_zero_point, fold);
        run->x = x + inside * across->step;
        run->y = y + line * across->y_step;
        lines(run);
        line += run->lines;
    }
}

static inline void glue_run_3x3(const glue_depthwise_scalar_layer *layer,
                                const int8_t *x,
                                int8_t *y,
                                glue_lines_function stride_1,
                                glue_lines_function stride_2,
                                int32_t fold)
{
    const int32_t channels = layer->channels;
    const glue_axis vertical = {.size = layer->input.h,
                           .outputs = layer->output.h,
                           .padding = layer->padding.h,
                           .step = layer->input.w * channels,
                           .y_step = layer->output.w * channels};
    const glue_axis horizontal = {.size = layer->input.w,
                             .outputs = layer->output.w,
                             .padding = layer->padding.w,
                             .step = channels,
                             .y_step = channels};
    const int32_t stride = layer->stride.w;
    const glue_axis *const along = layer->upright ? &vertical : &horizontal;
    const glue_axis *const across = layer->upright ? &horizontal : &vertical;
    glue_depthwise_scalar_lines run;
    run.step = along->step;
    run.y_step = along->y_step;
    run.pitch = across->step;
    run.x_line = across->step * stride;
    run.y_line = across->y_step;
    run.count = along->outputs;
    run.before = along->padding;
    run.after = (along->outputs - 1) * stride - along->padding + 2 >= along->size;
    run.rectified = layer->epilogue == GLUE_SCALAR_RECTIFIED;
    run.zero_point = layer->output_zero_point;
    const int32_t *stream = layer->streams;
    for (int32_t c = 0; c < channels; c++)
    {
        glue_run_channel(&run, layer, stream, across, x, y, stride == 1 ? stride_1 : stride_2, fold);
        stream += DEPTHWISE_3X3_WORDS;
        x++;
        y++;
    }
}

#endif /* GLUE_DEPTHWISE_SCALAR_3X3_H */
