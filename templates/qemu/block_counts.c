/* TCG plugin for QEMU: how often every translated block ran, between marks.
 *
 *   gcc -O2 -shared -fPIC -fvisibility=hidden -DPLUGIN_API=1 -o block_counts.so block_counts.c
 *   qemu-system-arm -plugin block_counts.so,out=FILE,mark=ADDRESS,marks=N ...
 *
 * A mark is an execution of the block at ADDRESS, N of which are expected; phase p begins with mark p, phase 0 with
 * the boot, and the last one ends with the program. Each line of FILE is
 *
 *   ADDRESS INSTRUCTIONS PHASE COUNT      hexadecimal, decimal, decimal, decimal
 *
 * No header of QEMU is needed: the functions below are declared as docs/devel/tcg-plugins describes them. They are the
 * same in both generations of the interface, 1 (QEMU 4.2 to 8.2.3) and 2 or later (QEMU 8.2.4, 9.0 and later); a
 * plugin has to say which one it was built for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PLUGIN_API
#define PLUGIN_API 1
#endif

typedef uint64_t plugin_id_t;
struct qemu_plugin_tb;

typedef void (*translated_t)(plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*executed_t)(unsigned int processor, void *data);
typedef void (*ended_t)(plugin_id_t id, void *data);

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id_t id, translated_t call);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, executed_t call,
                                                 unsigned int flags, void *data);
extern void qemu_plugin_register_atexit_cb(plugin_id_t id, ended_t call, void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);

#define EXPORT __attribute__((visibility("default")))

extern int qemu_plugin_version;
struct qemu_info_t;
EXPORT int qemu_plugin_install(plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv);

EXPORT int qemu_plugin_version = PLUGIN_API;

struct block
{
    struct block *next;
    uint64_t address;
    size_t instructions;
    uint64_t counts[];
};

static struct block *blocks;
static const char *out_path = "blocks.txt";
static uint64_t mark;
static size_t phases = 1;
static size_t phase;

static void on_executed(unsigned int processor, void *data)
{
    struct block *block = data;
    (void)processor;
    if (block->address == mark && phase + 1u < phases)
    {
        phase++;
    }
    block->counts[phase]++;
}

static void on_translated(plugin_id_t id, struct qemu_plugin_tb *translated)
{
    (void)id;
    struct block *block = calloc(1, sizeof *block + phases * sizeof block->counts[0]);
    if (block == NULL)
    {
        abort();
    }
    block->address = qemu_plugin_tb_vaddr(translated);
    /* Not their bytes: at the end of a page QEMU counts half of the next instruction to the last one. */
    block->instructions = qemu_plugin_tb_n_insns(translated);
    block->next = blocks;
    blocks = block;
    qemu_plugin_register_vcpu_tb_exec_cb(translated, on_executed, 0, block);
}

static void on_end(plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    FILE *file = fopen(out_path, "w");
    if (file == NULL)
    {
        return;
    }
    for (const struct block *block = blocks; block != NULL; block = block->next)
    {
        for (size_t i = 0; i < phases; i++)
        {
            if (block->counts[i] != 0u)
            {
                fprintf(file, "%" PRIx64 " %zu %zu %" PRIu64 "\n", block->address, block->instructions, i,
                        block->counts[i]);
            }
        }
    }
    fclose(file);
}

EXPORT int qemu_plugin_install(plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++)
    {
        if (strncmp(argv[i], "out=", 4) == 0)
        {
            out_path = strdup(argv[i] + 4);
        }
        else if (strncmp(argv[i], "mark=", 5) == 0)
        {
            mark = strtoull(argv[i] + 5, NULL, 0);
        }
        else if (strncmp(argv[i], "marks=", 6) == 0)
        {
            phases = (size_t)strtoull(argv[i] + 6, NULL, 0) + 1u;
        }
        else
        {
            return -1;
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
