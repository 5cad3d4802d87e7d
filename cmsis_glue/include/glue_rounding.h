/*
 * How often a product is rounded when it is requantised; one choice for a whole program. Read by C and assembly.
 *
 * 0: twice, as CMSIS-NN and TensorFlow Lite do by default.
 * 1: once, as they do with CMSIS_NN_USE_SINGLE_ROUNDING and TFLITE_SINGLE_ROUNDING, and nearly as ONNX Runtime does.
 *
 * Define it for the kernels and for the code that calls them. Tables packed for the fast kernels fit one of the two.
 */

#ifndef GLUE_ROUNDING_H
#define GLUE_ROUNDING_H

#ifndef GLUE_SINGLE_ROUNDING
#define GLUE_SINGLE_ROUNDING 0
#endif

#endif /* GLUE_ROUNDING_H */
