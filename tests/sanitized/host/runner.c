/*
 * Runs a generated model on samples from the standard input, one layer after another, each of which may touch nothing
 * but its own inputs, outputs and scratch memory: all other bytes of the arena are poisoned. Writes the outputs.
 *
 * A generated layers.c names the regions of every layer, of the model's inputs, of what must be left of them, and of
 * its outputs.
 */

#include "layers.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void allow(const region *regions, size_t count)
{
    for (size_t i = 0; i < count; i++)
    {
        __asan_unpoison_memory_region(model_arena + regions[i].offset, regions[i].size);
    }
}

void onnx2mcu_mark(int32_t layer)
{
    __asan_poison_memory_region(model_arena, arena_bytes);
    if (layer < layers)
    {
        allow(layer_regions + layer_first[layer], layer_first[layer + 1] - layer_first[layer]);
    }
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* Memory that nobody wrote holds anything. */
static void scramble(uint32_t seed)
{
    for (size_t i = 0; i < arena_bytes; i++)
    {
        seed = seed * 1664525U + 1013904223U;
        model_arena[i] = (uint8_t)(seed >> 24);
    }
}

int main(void)
{
    uint8_t *const sample = malloc(input_bytes);
    size_t got;
    for (uint32_t count = 0; (got = fread(sample, 1, input_bytes, stdin)) > 0; count++)
    {
        if (got != input_bytes)
        {
            fail("half a sample");
        }
        __asan_unpoison_memory_region(model_arena, arena_bytes);
        scramble(count);
        const uint8_t *from = sample;
        for (size_t i = 0; i < input_count; i++)
        {
            memcpy(model_arena + inputs[i].offset, from, inputs[i].size);
            from += inputs[i].size;
        }
        if (model_run() != 0)
        {
            fail("a kernel refuses its arguments");
        }
        __asan_unpoison_memory_region(model_arena, arena_bytes);
        from = sample;
        for (size_t i = 0; i < input_count; i++)
        {
            if (memcmp(model_arena + kept[i].offset, from, kept[i].size) != 0)
            {
                fail("an input was written to");
            }
            from += inputs[i].size;
        }
        for (size_t i = 0; i < output_count; i++)
        {
            fwrite(model_arena + outputs[i].offset, 1, outputs[i].size, stdout);
        }
    }
    free(sample);
    return 0;
}
