/* TCG plugin for QEMU: how often every translated block ran, and behind which one, between marks.
 *
 *   gcc -O2 -shared -fPIC -fvisibility=hidden -DPLUGIN_API=1 -o block_counts.so block_counts.c
 *   qemu-system-arm -plugin block_counts.so,out=FILE,mark=ADDRESS,marks=N,owners=FILE ...
 *
 * A mark is an execution of the block at ADDRESS, N of which are expected; phase p begins with mark p, phase 0 with
 * the boot, and the last one ends with the program. Lines START END PHASE of the file of owners (hexadecimal,
 * hexadecimal, decimal) change that: a block at START begins PHASE, and one from START to before END with PHASE 0 the
 * phase of the last mark. Each line of the other FILE is
 *
 *   ADDRESS INSTRUCTIONS PHASE COUNT BEFORE INSTRUCTIONS      hexadecimal, decimal, decimal, decimal, as the first two
 *
 * COUNT of the block at ADDRESS behind that at BEFORE; behind none, both are 0.
 *
 * No header of QEMU is needed: the functions below are declared as docs/devel/tcg-plugins describes them. They are the
 * same in versions 1 (QEMU 4.2 to 8.2.3) to 6 of the interface; a plugin has to say which one it was built for. In
 * version 7 callbacks have other parameters. */
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

struct block;

/* Arrivals at a block from another one, by phase. */
struct edge
{
    struct edge *next;
    const struct block *from;
    uint64_t counts[];
};

enum action
{
    KEEP,
    MARK,
    OWNER,
    BACK,
};

struct block
{
    struct block *next;
    uint64_t address;
    size_t instructions;
    enum action action;
    size_t phase;
    struct edge *edges;
};

struct owner
{
    struct owner *next;
    uint64_t start;
    uint64_t end;
    size_t phase;
};

static struct block boot;
static const struct block *previous = &boot;
static struct block *blocks;
static struct owner *owners;
static const char *out_path = "blocks.txt";
static uint64_t mark;
static size_t phases = 1;
static size_t marked;
static size_t phase;

static void *allocate(size_t bytes)
{
    void *const memory = calloc(1, bytes);
    if (memory == NULL)
    {
        abort();
    }
    return memory;
}

static struct edge *edge_from(struct block *block, const struct block *from)
{
    for (struct edge *edge = block->edges; edge != NULL; edge = edge->next)
    {
        if (edge->from == from)
        {
            return edge;
        }
    }
    struct edge *const edge = allocate(sizeof *edge + phases * sizeof edge->counts[0]);
    edge->from = from;
    edge->next = block->edges;
    block->edges = edge;
    return edge;
}

static void on_executed(unsigned int processor, void *data)
{
    struct block *const block = data;
    (void)processor;
    if (block->action == MARK && marked + 1u < phases)
    {
        marked++;
    }
    if (block->action != KEEP)
    {
        phase = block->action == OWNER ? block->phase : marked;
    }
    edge_from(block, previous)->counts[phase]++;
    previous = block;
}

static void find_action(struct block *block)
{
    if (block->address == mark)
    {
        block->action = MARK;
        return;
    }
    for (const struct owner *owner = owners; owner != NULL; owner = owner->next)
    {
        if (owner->phase != 0u && block->address == owner->start)
        {
            block->action = OWNER;
            block->phase = owner->phase;
        }
        else if (owner->phase == 0u && block->address >= owner->start && block->address < owner->end)
        {
            block->action = BACK;
        }
    }
}

static void on_translated(plugin_id_t id, struct qemu_plugin_tb *translated)
{
    (void)id;
    struct block *const block = allocate(sizeof *block);
    block->address = qemu_plugin_tb_vaddr(translated);
    /* Not their bytes: at the end of a page QEMU counts half of the next instruction to the last one. */
    block->instructions = qemu_plugin_tb_n_insns(translated);
    find_action(block);
    block->next = blocks;
    blocks = block;
    qemu_plugin_register_vcpu_tb_exec_cb(translated, on_executed, 0, block);
}

static void on_end(plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    FILE *const file = fopen(out_path, "w");
    if (file == NULL)
    {
        return;
    }
    for (const struct block *block = blocks; block != NULL; block = block->next)
    {
        for (const struct edge *edge = block->edges; edge != NULL; edge = edge->next)
        {
            for (size_t i = 0; i < phases; i++)
            {
                if (edge->counts[i] != 0u)
                {
                    fprintf(file, "%" PRIx64 " %zu %zu %" PRIu64 " %" PRIx64 " %zu\n", block->address,
                            block->instructions, i, edge->counts[i], edge->from->address, edge->from->instructions);
                }
            }
        }
    }
    fclose(file);
}

/* Returns whether the file could be read. */
static int read_owners(const char *path)
{
    FILE *const file = fopen(path, "r");
    if (file == NULL)
    {
        return 0;
    }
    uint64_t start;
    uint64_t end;
    size_t number;
    while (fscanf(file, "%" SCNx64 " %" SCNx64 " %zu", &start, &end, &number) == 3)
    {
        struct owner *const owner = allocate(sizeof *owner);
        *owner = (struct owner){owners, start, end, number};
        owners = owner;
    }
    fclose(file);
    return 1;
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
        else if (strncmp(argv[i], "owners=", 7) != 0 || !read_owners(argv[i] + 7))
        {
            return -1;
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
