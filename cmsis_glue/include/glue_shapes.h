/*
 * Shapes in the constant descriptors that generated code hands to kernels, in as few bytes as they need: a model has
 * one descriptor for every layer. The generator takes another kernel where a number does not fit.
 */

#ifndef GLUE_SHAPES_H
#define GLUE_SHAPES_H

#include <stdint.h>

/* Extents of a tensor. */
typedef struct
{
    uint16_t n;
    uint16_t h;
    uint16_t w;
    uint16_t c;
} glue_shape;

/* Extents of an image or a window. */
typedef struct
{
    uint16_t w;
    uint16_t h;
} glue_extent;

/* Strides, dilations, and cells of padding before the first row and column. */
typedef struct
{
    uint8_t w;
    uint8_t h;
} glue_step;

/* Bounds of int8 codes. */
typedef struct
{
    int8_t min;
    int8_t max;
} glue_bounds;

#endif /* GLUE_SHAPES_H */
