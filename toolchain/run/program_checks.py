"""What emulators do not notice and the ELF files show: checked after every build."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolchain.board import Board
from toolchain.emit.project import FirmwareModel
from toolchain.errors import RunFailed
from toolchain.run.build import BuildResult
from toolchain.run.callgraph import CallGraph, Node, StackUse
from toolchain.run.elf import Elf, ObjectFile
from toolchain.run.thumb import Feature, feature, is_float_arithmetic

_KERNELS = ("arm_", "glue_")
"""How the names of kernels begin."""
_FLOAT_HELPER = re.compile(
    r"__aeabi_(?:[fdh]|c[fd]|u?[il]2[fd])\w*"
    r"|__(?:add|sub|mul|div|neg|extend|trunc|fix|float|eq|ne|lt|le|gt|ge|unord|cmp)\w*[sdt]f\w*"
    r"|(?:exp|exp2|log|log2|pow|sqrt|tanh|sin|cos|floor|ceil|round|lround|erf)f?"
)
_LONG_DIVISION = re.compile(r"__aeabi_u?ldivmod|__u?(?:div|mod|divmod)di[34]|__gnu_u?ldivmod\w*")


@dataclass(frozen=True)
class ProgramFacts:
    """What the checks found of a program that passes them.

    Attributes:
        inference: Deepest stack of one inference.
        program: Deepest stack of the example program, from reset on.
    """

    inference: StackUse
    program: StackUse


def check_programs(build: BuildResult, board: Board, model: FirmwareModel) -> ProgramFacts:
    """Check the program for the board and the objects it was linked from.

    Args:
        build: The programs.
        board: The board.
        model: The model.

    Returns:
        The stack it takes at most.

    Raises:
        RunFailed: The first rule that is broken, where, and what to do about it.
    """
    _check_objects(build.directory, model)
    elf = Elf(build.firmware)
    graph = CallGraph(elf)
    _check_instructions(graph, board)
    _check_alignment(elf, board, model)
    run = model.entry
    _check_arithmetic(graph.reachable(run), run)
    frames = stack_frames(build.directory)
    facts = ProgramFacts(graph.stack(run, frames), graph.stack("Reset_Handler", frames))
    _check_stack(facts, elf)
    return facts


# --- instructions --------------------------------------------------------------------------------


def features_of(board: Board) -> frozenset[Feature]:
    """What a board's core can execute."""
    have = {Feature.BASE}
    if board.cpu not in ("cortex-m0", "cortex-m0plus"):
        have.add(Feature.MAIN)
    if board.isa.value in ("dsp", "mve"):
        have.add(Feature.DSP)
    if board.fpu is not None:
        have.add(Feature.FLOAT)
    if board.fpu in ("fpv5-d16", "auto"):
        have.add(Feature.DOUBLE)
    if board.isa.value == "mve":
        have.add(Feature.MVE)
    return frozenset(have)


def _check_instructions(graph: CallGraph, board: Board) -> None:
    have = features_of(board)
    for node in graph.nodes.values():
        for word in node.code:
            need = feature(word)
            if need not in have:
                code = f"{word.first:04x}" + ("" if word.second < 0 else f" {word.second:04x}")
                reason = f"instruction {code} needs: {need}, which {board.cpu} lacks"
                hint = "compile the file with the project's -mcpu, and keep assembly to the core"
                raise _broken(graph.elf.symbol_at(word.address) or "", reason, hint)


def _check_arithmetic(nodes: list[Node], run: str) -> None:
    """No floating point and no 64-bit division in an inference."""
    for node in nodes:
        name = node.function.name
        if _LONG_DIVISION.fullmatch(name):
            hint = "divide 32-bit values, or multiply by a reciprocal"
            raise _broken(name, f"a 64-bit division that {run} comes to call", hint)
        helper = _FLOAT_HELPER.fullmatch(name)
        if helper or any(is_float_arithmetic(word) for word in node.code):
            what = (
                "a floating point helper" if helper else "floating point arithmetic in a function"
            )
            hint = "inference is integer arithmetic: quantise where the data come in"
            raise _broken(name, f"{what} that {run} comes to call", hint)


# --- data ----------------------------------------------------------------------------------------


def _check_alignment(elf: Elf, board: Board, model: FirmwareModel) -> None:
    grain, prefix = board.alignment, re.escape(model.prefix)
    pattern = rf"{prefix}_(\d\d+_\w+|arena(_\d+)?)"
    tables = (name for name in elf.symbols if re.fullmatch(pattern, name))
    for name in sorted(tables):
        address = elf.address(name)
        if address % grain:
            reason = f"lies at 0x{address:08X}; the kernels for {board.cpu} load {grain} bytes"
            hint = f"give it __attribute__((aligned({grain}))), and a section that keeps it"
            raise _broken(name, reason, hint)


def _check_objects(folder: Path, model: FirmwareModel) -> None:
    """Variables and names of the model's and the kernels' objects."""
    own, arenas = f"{model.prefix}_", {part.symbol for part in model.arenas}
    for path, prefixes in _objects(folder, own):
        found = ObjectFile(path)
        source = path.name.removesuffix(".obj")
        for name, size, initialised in found.variables:
            if name in arenas or name in model.hot_weights:
                continue
            also = " and flash" if initialised else ""
            reason = f"variable {name} takes {size} bytes of RAM{also}"
            raise _broken(source, reason, "make it const, or a part of the arena")
        for name in found.exported:
            if not name.startswith(prefixes):
                reason = f"external symbol {name} does not begin with {' or '.join(prefixes)}"
                hint = "make it static, or give it the prefix: other code may use the name"
                raise _broken(source, reason, hint)


def _objects(folder: Path, own: str) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Object files of the model and of the kernels, with the prefixes of their symbols."""
    parts = folder / "CMakeFiles"
    for path in sorted((parts / "model.dir").rglob("*.obj")):
        yield path, (own,)
    for path in sorted((parts / "kernels.dir").rglob("*.obj")):
        yield path, _KERNELS


# --- stack ---------------------------------------------------------------------------------------


def stack_frames(folder: Path) -> dict[str, int]:
    """Bytes of stack of every compiled function, from the compiler's .su files.

    Args:
        folder: Folder of the build.

    Raises:
        RunFailed: A function's frame has no fixed size.
    """
    frames: dict[str, int] = {}
    for path in sorted((folder / "CMakeFiles").rglob("*.su")):
        if path.relative_to(folder).parts[1] in ("model_marked.dir", "emulation.dir", "hooks.dir"):
            continue
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            place, size, kind = line.rsplit("\t", 2)
            name = place.rsplit(":", 1)[1].split(".")[0]
            if kind == "dynamic":
                reason = "its stack frame has no fixed size"
                raise _broken(name, reason, "no alloca, no arrays of variable length")
            frames[name] = max(frames.get(name, 0), int(size))
    return frames


def _check_stack(facts: ProgramFacts, elf: Elf) -> None:
    need, have = facts.program.bytes, elf.sizes.stack
    if need > have:
        path = " > ".join(facts.program.path)
        reason = f"the stack may take {need} bytes, {have} are reserved: {path}"
        raise _broken(elf.path.name, reason, f"convert again with --stack {-(-need // 256) * 256}")


def _broken(where: str, reason: str, hint: str) -> RunFailed:
    return RunFailed("build", where, reason, hint)
