/* What runner.c knows of a generated model. */

#ifndef LAYERS_H
#define LAYERS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the arena. */
typedef struct
{
    size_t offset;
    size_t size;
} region;

extern const int32_t layers;
extern const region layer_regions[];
extern const size_t layer_first[]; /* of layer_regions, one for each layer and one more */

extern const size_t input_count;
extern const size_t input_bytes;
extern const region inputs[];
extern const region kept[]; /* of every input, what a run leaves as it is */

extern const size_t output_count;
extern const region outputs[];

extern uint8_t model_arena[];
extern const size_t arena_bytes;

int32_t model_run(void);

/* Called before every layer and after the last. */
void onnx2mcu_mark(int32_t layer);

#endif /* LAYERS_H */
