"""A hand-written stand-in for a generated model: known instruction counts, faults on demand.

Input: 16 bytes; the first one chooses what the run does. Output: 16 bytes, input times 3 plus 1.

layer 0  a loop of exactly 2 * LOOP + 1 instructions
layer 1  the computation, in a kernel
layer 2  nothing, or the fault the input asks for
"""

from pathlib import Path

from toolchain.board import Board, load_board
from toolchain.emit.machines import machine_for
from toolchain.emit.project import FirmwareModel, LayerInfo, Port, write_firmware

LOOP = 1000
SERIAL_DATA = "0x40004404"
"""Register of USART2 on an STM32F4 that sends."""
WRITE_PAST_RAM, WRITE_FLASH, OVERFLOW, UNDEFINED, HANG, STATUS, EXECUTE_RAM = range(101, 108)
PRINT, SERIAL, SUPERVISOR, BREAKPOINT = range(108, 112)

_HEADER = """#ifndef KWS_H
#define KWS_H
#include <stdint.h>
#define KWS_ARENA_BYTES {arena}
extern uint8_t kws_arena[KWS_ARENA_BYTES];
int32_t kws_run(void);
static inline int8_t *kws_input_x(void)
{{
    return (int8_t *)kws_arena;
}}
static inline const int8_t *kws_output_y(void)
{{
    return (const int8_t *)kws_arena + 16;
}}
#endif
"""

_SOURCE = """#include "kws.h"
#include "glue_fake.h"
#ifdef ONNX2MCU_HARNESS
void onnx2mcu_mark(int32_t layer);
#define KWS_LAYER_HOOK(i) onnx2mcu_mark(i)
#else
#define KWS_LAYER_HOOK(i) ((void)0)
#endif
extern const int8_t kws_w[16];
uint8_t kws_arena[KWS_ARENA_BYTES] __attribute__((aligned(16)));

void kws_overflow(volatile int8_t *below);
int32_t kws_misbehave(int8_t what);

/* Recursion the compiler cannot turn into a loop. */
__attribute__((noinline)) void kws_overflow(volatile int8_t *below)
{{
    volatile int8_t here[64];
    here[0] = below[0];
    if (here[0] != 127)
    {{
        kws_overflow(here);
    }}
    below[0] = here[0];
}}

/* Semihosting's SYS_WRITE0. */
static void kws_print(const char *text)
{{
    register uint32_t r0 __asm__("r0") = 4u;
    register const char *r1 __asm__("r1") = text;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}}

__attribute__((noinline)) int32_t kws_misbehave(int8_t what)
{{
    volatile int8_t seed[4] = {{0, 0, 0, 0}};
    switch (what)
    {{
    case 101:
        *(volatile uint32_t *)(uintptr_t){ram_end}u = 1u;
        return 0;
    case 102:
        *(volatile int8_t *)(uintptr_t)&kws_w[0] = 1;
        return 0;
    case 103:
        kws_overflow(seed);
        return 0;
    case 104:
        __asm__ volatile("udf #1");
        return 0;
    case 105:
        for (;;)
        {{
            __asm__ volatile("nop");
        }}
    case 106:
        return -7;
    case 107:
        kws_arena[32] = 0x70; /* bx lr */
        kws_arena[33] = 0x47;
        ((void (*)(void))((uintptr_t)kws_arena + 33u))();
        return 0;
    case 108:
        kws_print("hello from the model\\n");
        return 0;
    case 109:
        *(volatile uint32_t *)(uintptr_t){serial}u = 'h';
        *(volatile uint32_t *)(uintptr_t){serial}u = 'i';
        return 0;
    case 110:
        __asm__ volatile("svc #3");
        return 0;
    case 111:
        __asm__ volatile("bkpt #5");
        return 0;
    default:
        return 0;
    }}
}}

int32_t kws_run(void)
{{
    KWS_LAYER_HOOK(0);
    __asm__ volatile(".syntax unified\\n"
                     "ldr r0, =%c0\\n"
                     "1: subs r0, #1\\n"
                     "bne 1b\\n" : : "i"({loop}) : "r0", "cc");
    KWS_LAYER_HOOK(1);
    int32_t status = glue_fake(kws_input_x(), kws_w, (int8_t *)kws_arena + 16, 16);
    KWS_LAYER_HOOK(2);
    if (kws_input_x()[0] > 100)
    {{
        status = kws_misbehave(kws_input_x()[0]);
    }}
    KWS_LAYER_HOOK(3);
    return status;
}}
"""

_WEIGHTS = """#include <stdint.h>
extern const int8_t kws_w[16];
const int8_t kws_w[16] __attribute__((aligned(16))) = {3, 3, 3, 3, 3, 3, 3, 3,
                                                      3, 3, 3, 3, 3, 3, 3, 3};
"""

_KERNEL_HEADER = """#ifndef GLUE_FAKE_H
#define GLUE_FAKE_H
#include <stdint.h>
int32_t glue_fake(const int8_t *input, const int8_t *weights, int8_t *output, int32_t count);
#endif
"""

_KERNEL = """#include "glue_fake.h"
int32_t glue_fake(const int8_t *input, const int8_t *weights, int8_t *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
    {
        output[i] = (int8_t)(input[i] * weights[i] + 1);
    }
    return 0;
}
"""

MODEL = FirmwareModel(
    prefix="kws",
    inputs=(Port("x", "x", 16),),
    outputs=(Port("y", "y", 16),),
    layers=(
        LayerInfo("loop", ()),
        LayerInfo("kernel", ((16, 16),)),
        LayerInfo("misbehave", ((16, 8), (24, 8))),
    ),
    arena_bytes=64,
    kernel_sources=("glue_fake.c",),
)


def expected(sample: bytes) -> bytes:
    return bytes((value * 3 + 1) % 256 for value in sample)


def write_project(
    directory: Path, board: Board | str, arena: int = 64, cmsis_nn_dir: Path | None = None
) -> Path:
    """Write the whole project of the fake model for a board; returns its folder."""
    if isinstance(board, str):
        board = load_board(board)
    glue = directory.with_name(directory.name + "-glue")
    for name, text in (("include/glue_fake.h", _KERNEL_HEADER), ("src/glue_fake.c", _KERNEL)):
        path = glue / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    write_firmware(directory, MODEL, board, cmsis_nn_dir, stack_bytes=1024, glue_dir=glue)
    ram_end = _emulated_ram_end(board)
    (directory / "kws.h").write_text(_HEADER.format(arena=arena))
    (directory / "kws.c").write_text(
        _SOURCE.format(ram_end=hex(ram_end), loop=LOOP, serial=SERIAL_DATA)
    )
    (directory / "kws_weights.c").write_text(_WEIGHTS)
    return directory


def _emulated_ram_end(board: Board) -> int:
    return machine_for(board).ram.origin + board.ram.bytes
