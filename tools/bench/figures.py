"""The figures of a model on a core, and docs/bench.json, which holds all of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

REPO = Path(__file__).resolve().parents[2]
BENCH = REPO / "docs" / "bench.json"
TOLERANCE = 0.01
"""Share by which a figure may grow."""


class LayerFigures(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One kernel call; cycles are the Cortex-M4 estimate."""

    op: str
    kernel: str
    shape: tuple[int, ...]
    macs: int
    outputs: int
    instructions: int
    cycles: int | None = None


class Figures(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model on a core with one family of kernels.

    Attributes:
        instructions: Executed instructions per inference.
        macs: Multiply-accumulates per inference.
        cycles: The Cortex-M4 estimate; None on other cores.
        code: Bytes of flash without the model's constants: all that is linked.
        code_kernels: Of these, kernels.
        code_generated: Of these, the generated source.
        code_descriptors: Of these, the constants of the generated source.
        code_library: Of these, the compiler's and the C library's functions.
        weights: Bytes of weights and biases.
        tables: Bytes of the model's other constants: requantisation, look-up tables, padding.
        arena: Bytes of RAM for activations and scratch memory.
        stack: Deepest stack of an inference, bytes.
        layers: Every kernel call.
    """

    instructions: int
    macs: int
    cycles: int | None = None
    code: int
    code_kernels: int
    code_generated: int
    code_descriptors: int
    code_library: int
    weights: int
    tables: int
    arena: int
    stack: int
    layers: tuple[LayerFigures, ...]


Cells = dict[str, dict[str, dict[str, Figures]]]
"""Figures by model, core and family."""


class Bench(msgspec.Struct, frozen=True):
    """docs/bench.json."""

    compiler: str
    emulator: str
    cells: Cells


def load(path: Path = BENCH) -> Bench:
    """The committed figures."""
    return msgspec.json.decode(path.read_bytes(), type=Bench)


def save(bench: Bench, path: Path = BENCH) -> None:
    """Write the figures: a line for each number and for each layer."""
    lines = _lines(msgspec.to_builtins(bench), "")
    path.write_text("".join(lines) + "\n", encoding="utf-8", newline="\n")


def _lines(value: Any, indent: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield json.dumps(value)
        return
    yield "{\n"
    for index, (key, inner) in enumerate(value.items()):
        yield ",\n" if index else ""
        yield f"{indent} {json.dumps(key)}: "
        if key == "layers":
            rows = ",\n".join(f"{indent}  {json.dumps(row)}" for row in inner)
            yield f"[\n{rows}\n{indent} ]"
        else:
            yield from _lines(inner, indent + " ")
    yield f"\n{indent}}}"


_COMPARED = tuple(name for name in Figures.__struct_fields__ if name not in ("macs", "layers"))


def grown(old: Figures, new: Figures) -> list[str]:
    """What got worse by more than the tolerance, one line each.

    Args:
        old: Committed figures.
        new: Measured ones.
    """
    lines = []
    for name in _COMPARED:
        before, now = getattr(old, name), getattr(new, name)
        if before is not None and now is not None and now > before * (1 + TOLERANCE):
            lines.append(f"{name}: {before:,} -> {now:,} ({now / max(before, 1) - 1:+.1%})")
    if lines and len(old.layers) == len(new.layers):
        pairs = enumerate(zip(old.layers, new.layers, strict=True))
        lines.extend(
            f"  layer {i} {b.kernel}: {a.instructions:,} -> {b.instructions:,} instructions"
            for i, (a, b) in pairs
            if b.instructions > a.instructions * (1 + TOLERANCE)
        )
    return lines
