"""The project around the generated model: start-up code, linker scripts, harness, build file."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from toolchain import resources
from toolchain.board import Board, Memory
from toolchain.emit.arena import ArenaPart, arena_parts, part_at, refer
from toolchain.emit.machines import Machine, machine_for, stand_ins
from toolchain.emit.mpu import register_pairs
from toolchain.emit.render import render
from toolchain.emit.renode import DIFFERENT, EQUAL, FAULT, harness_memory, spare_address
from toolchain.errors import InputRefused
from toolchain.select import Optimize

CANARY_FAULT = 256
"""What firmware/harness_hooks.c records in the place of an exception when the canary broke."""
CANARY_BYTES = 16
"""Bytes of the canary behind every part of the arena (firmware/canary.h)."""

_FAULT_STACK_BYTES = 512
_OPTIONS = {Optimize.SPEED: "-O2", Optimize.SIZE: "-Os"}


@dataclass(frozen=True)
class Port:
    """An input or output of the model.

    Attributes:
        name: Name in the ONNX file.
        ident: The same as part of a C identifier.
        nbytes: Size, in bytes.
    """

    name: str
    ident: str
    nbytes: int


@dataclass(frozen=True)
class LayerInfo:
    """A layer, for the harness.

    Attributes:
        name: Name in reports.
        outputs: (offset in the arena, bytes) of what it computes.
    """

    name: str
    outputs: tuple[tuple[int, int], ...]

    @property
    def nbytes(self) -> int:
        """Bytes the harness dumps after this layer."""
        return sum(size for _, size in self.outputs)


@dataclass(frozen=True)
class FirmwareModel:
    """What the firmware has to know of the generated model.

    Attributes:
        prefix: Prefix of its files and symbols, a C identifier in lower case.
        inputs: Inputs, in the order of the model.
        outputs: Outputs, in the order of the model.
        layers: Layers, in the order they run.
        arena_bytes: Size of the arena.
        kernel_sources: Names of the files of cmsis_glue/src that the model needs.
        single_rounding: GLUE_SINGLE_ROUNDING: 1, or 0 for two roundings.
        input_rows: Rows of its input, when it comes row by row; else 0.
        parts: Memory and bytes of every part of the arena; empty: it is whole in the board's RAM.
        weights_memory: Flash of the weights; "": the board's flash.
        hot_memory: RAM of the weights that are copied there; "": there are none.
        hot_weights: Names of those.
        by_rows: Index of the first layer, and of the one behind the last, of those that run row by
            row together.
        dead: Offset and bytes of what nobody reads later, before every layer and after the last.
    """

    prefix: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    layers: tuple[LayerInfo, ...]
    arena_bytes: int
    kernel_sources: tuple[str, ...]
    single_rounding: int = 0
    input_rows: int = 0
    parts: tuple[tuple[str, int], ...] = ()
    weights_memory: str = ""
    hot_memory: str = ""
    hot_weights: tuple[str, ...] = ()
    by_rows: tuple[tuple[int, int], ...] = ()
    dead: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def arenas(self) -> tuple[ArenaPart, ...]:
        """The arrays of the arena."""
        return arena_parts(self.prefix, self.parts or (("", self.arena_bytes),))

    def place(self, offset: int) -> tuple[str, int]:
        """The array that holds an offset of the whole arena, and the offset in it."""
        part = part_at(self.arenas, offset)
        return part.symbol, offset - part.start

    def further_memories(self, board: Board) -> tuple[Memory, ...]:
        """Memories that it uses besides the flash and the RAM that every program has."""
        names = (*(memory for memory, _ in self.parts), self.hot_memory, self.weights_memory)
        own = ("", board.ram.name, board.flash.name)
        return tuple(board.usable(name) for name in dict.fromkeys(names) if name not in own)

    @property
    def entry(self) -> str:
        """The function that runs the layers."""
        return f"{self.prefix}_{'push_row' if self.input_rows else 'run'}"


def write_firmware(
    directory: Path,
    model: FirmwareModel,
    board: Board,
    cmsis_nn_dir: Path | None = None,
    stack_bytes: int = 2048,
    glue_dir: Path = resources.CMSIS_GLUE,
    optimize: Optimize = Optimize.SPEED,
) -> None:
    """Write firmware/, kernels/ and CMakeLists.txt into the folder of a generated model.

    Args:
        directory: The project's folder; created when missing.
        model: The model.
        board: The board.
        cmsis_nn_dir: A copy of Arm's CMSIS-NN to link before the own kernels.
        stack_bytes: Stack, a multiple of 8.
        glue_dir: Where the kernels come from: include/ and src/.
        optimize: What everything is compiled for.

    Raises:
        InputRefused: The CMSIS-NN folder is none, or the stack size is not a multiple of 8.
    """
    if stack_bytes <= 0 or stack_bytes % 8:
        reason = f"{stack_bytes} bytes is not a positive multiple of 8"
        raise InputRefused(
            "emit", "stack", reason, f"give --stack {max(-(-stack_bytes // 8), 1) * 8}"
        )
    if cmsis_nn_dir is not None and not (cmsis_nn_dir / "Include" / "arm_nnfunctions.h").is_file():
        raise InputRefused(
            "emit",
            str(cmsis_nn_dir),
            "not a copy of CMSIS-NN: Include/arm_nnfunctions.h is missing",
            "name the folder that holds Include/ and Source/",
        )
    machine = machine_for(board)
    context = _context(model, board, machine, cmsis_nn_dir, stack_bytes)
    context["optimise"] = _OPTIONS[optimize]
    firmware = directory / "firmware"
    firmware.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        _write(firmware / name, name, context)
    _write(directory / "CMakeLists.txt", "CMakeLists.txt", context)
    further = model.further_memories(board)
    maps = {
        "board": _board_map(board, further),
        "hooks": _hooks_map(board, further),
        "emulator": _emulator_map(board, machine, further),
    }
    for name, memory_map in maps.items():
        _write(firmware / f"{name}.ld", "link.ld", {**context, **memory_map})
    _copy_kernels(directory / "kernels", model.kernel_sources, glue_dir)


_FILES = (
    "arm-none-eabi.cmake",
    "canary.h",
    "check.c",
    "harness.c",
    "harness_hooks.c",
    "machine.h",
    "main.c",
    "poison.h",
    "runtime.h",
    "semihosting.h",
    "stack.h",
    "startup.c",
)


def _write(path: Path, template: str, context: Mapping[str, Any]) -> None:
    text = render(f"firmware/{template}.j2", **context)
    path.write_text(text, encoding="utf-8", newline="\n")


def _context(
    model: FirmwareModel,
    board: Board,
    machine: Machine,
    cmsis_nn_dir: Path | None,
    stack_bytes: int,
) -> dict[str, Any]:
    timer = machine.timer
    return {
        "prefix": model.prefix,
        "inputs": model.inputs,
        "outputs": model.outputs,
        "input_rows": model.input_rows,
        "layers": model.layers,
        "layer_outputs": [
            (refer(model.arenas, start), size)
            for layer in model.layers
            for start, size in layer.outputs
        ],
        "arenas": _arena_ends(model, board),
        "dead_spans": [(refer(model.arenas, start), n) for mark in model.dead for start, n in mark],
        "dead_first": _dead_first(model),
        "further": model.further_memories(board),
        "layer_spans": _layer_spans(model.layers),
        "kernels": tuple(
            sorted(name for name in model.kernel_sources if name.endswith((".c", ".S")))
        ),
        "single_rounding": model.single_rounding,
        "board": board,
        "gcc_flags": board.gcc_flags,
        "boot_words": [_hex(word) for word in board.boot_words],
        "machine": machine,
        "timer_setup": [(_hex(address), _hex(value)) for address, value in timer.setup],
        "timer_read": _hex(timer.read),
        "timer_invert": _hex(0xFFFFFFFF if timer.invert else 0),
        "mpu_regions": [
            (_hex(base), _hex(attributes))
            for base, attributes in register_pairs(
                machine, board.ram.bytes, stand_ins(machine, model.further_memories(board))
            )
        ],
        "cmsis_nn_dir": _cmake_path(cmsis_nn_dir),
        "stack_bytes": stack_bytes,
        "canary_fault": CANARY_FAULT,
        "canary_bytes": CANARY_BYTES,
        "samples_address": _hex(spare_address(board)),
        "check_equal": EQUAL,
        "check_different": DIFFERENT,
        "check_fault": FAULT,
    }


def _arena_ends(model: FirmwareModel, board: Board) -> list[tuple[str, str]]:
    """Every array of the arena, and the symbol of the end of its memory."""
    inside = ("", board.ram.name)
    return [
        (part.symbol, "__ram_end" if part.memory in inside else f"__memory_{part.memory}_end")
        for part in model.arenas
    ]


def _cmake_path(path: Path | None) -> str:
    """The path inside a quoted CMake string; "" without one."""
    if path is None:
        return ""
    return re.sub(r'(["\\$;])', r"\\\1", path.resolve().as_posix())


def _hex(value: int) -> str:
    return f"0x{value:08X}u"


def _layer_spans(layers: Sequence[LayerInfo]) -> list[tuple[int, int]]:
    """(index of the first, number) of each layer's outputs in one flat list."""
    spans, first = [], 0
    for layer in layers:
        spans.append((first, len(layer.outputs)))
        first += len(layer.outputs)
    return spans


def _dead_first(model: FirmwareModel) -> tuple[int, ...]:
    """Index of the first dead span of every mark, in one flat list.

    There are as many marks as layers and one; the harness tries two even without a layer.
    """
    counts = [len(spans) for spans in model.dead]
    counts += [0] * (len(model.layers) + 2 - len(counts))
    return tuple(accumulate(counts, initial=0))


def _region(name: str, memory: Memory, size: int) -> dict[str, str]:
    access = {"flash": "rx", "ram": "rw"}[memory.kind]
    return {
        "name": name,
        "access": access,
        "origin": f"0x{memory.origin:08X}",
        "length": str(size),
    }


_VECTOR_TABLE_BYTES = 1024


def _vectors(address: int | None) -> list[dict[str, str]]:
    """A region for the vector table when it is not at the start of the flash."""
    if address is None:
        return []
    return [_region("VECTORS", Memory("vectors", "flash", address, 0), _VECTOR_TABLE_BYTES)]


def _aliases(vector_table: int | None, harness: str | None) -> list[tuple[str, str]]:
    aliases = [] if vector_table is not None else [("VECTORS", "FLASH")]
    return aliases + ([("HARNESS", harness)] if harness else [])


def _further(memories: Sequence[Memory]) -> list[dict[str, str]]:
    """Regions of memories that not every program has; the names cannot be those of others."""
    return [_region(f"MEMORY_{m.name.upper()}", m, m.bytes) for m in memories]


def _board_map(board: Board, further: Sequence[Memory]) -> dict[str, Any]:
    """The linker script of the real part."""
    return {
        "title": f"{board.name}: {board.description}",
        "regions": [
            *_vectors(board.vector_table),
            _region("FLASH", board.flash, board.flash.bytes),
            _region("RAM", board.ram, board.ram.bytes),
            *_further(further),
        ],
        "aliases": _aliases(board.vector_table, "RAM"),
        "fault_stack": 0,
    }


def _hooks_map(board: Board, further: Sequence[Memory]) -> dict[str, Any]:
    """The real part, and memory beside it for what only the harness in Renode needs."""
    harness = harness_memory(board)
    part = _board_map(board, further)
    return {
        **part,
        "title": f"{board.name}, and memory of the test harness",
        "regions": [*part["regions"], _region("HARNESS", harness, harness.bytes)],
        "aliases": _aliases(board.vector_table, None),
    }


def _emulator_map(board: Board, machine: Machine, further: Sequence[Memory]) -> dict[str, Any]:
    """The machine's addresses with the board's sizes: what does not fit the part fails to link."""
    return {
        "title": f"{machine.name} with as much memory as {board.name}",
        "regions": [
            *_vectors(machine.vector_table),
            _region("FLASH", machine.flash, min(board.flash.bytes, machine.flash.bytes)),
            _region("RAM", machine.ram, min(board.ram.bytes, machine.ram.bytes)),
            _region("HARNESS", machine.harness, machine.harness.bytes),
            *_further(stand_ins(machine, further)),
        ],
        "aliases": _aliases(machine.vector_table, None),
        "fault_stack": _FAULT_STACK_BYTES,
    }


def _copy_kernels(target: Path, sources: Sequence[str], glue_dir: Path) -> None:
    target.mkdir(exist_ok=True)
    for old in (*target.glob("*.c"), *target.glob("*.S"), *target.glob("*.h")):
        old.unlink()
    headers = (*(glue_dir / "include").glob("*.h"), *(glue_dir / "src").glob("*.h"))
    for path in (*headers, *(glue_dir / "src" / name for name in sources)):
        shutil.copyfile(path, target / path.name)
