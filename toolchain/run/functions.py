"""Executed blocks of one inference by whichever engine can count them, and by function."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from toolchain.errors import InputRefused
from toolchain.run import block_plugin, function_counts
from toolchain.run.elf import Elf
from toolchain.run.emulator import RunRequest
from toolchain.run.engines import Kind
from toolchain.run.function_counts import BlockCount
from toolchain.run.renode import Renode
from toolchain.run.unicorn import Unicorn

_COUNTERS = {"qemu": block_plugin.count_blocks, "unicorn": function_counts.count_blocks}


@dataclass(frozen=True)
class Counted:
    """One inference, block by block.

    Args:
        elf: The program.
        request: What was run.
        engines: Who counted; they agree.
        blocks: What the first of them counted.
        functions: Per layer, instructions by function: their sum is the layer's.
    """

    elf: Elf
    request: RunRequest
    engines: tuple[str, ...]
    blocks: tuple[BlockCount, ...]
    functions: tuple[Counter[str], ...]


def uncountable(cpu: str, kind: Kind = "auto") -> str | None:
    """Why nothing here can count blocks of a core; None when something can.

    Args:
        cpu: The core.
        kind: See `count_blocks`.
    """
    wanted, able = _able(cpu, kind)
    return None if able else "; ".join(f"{name}: {reason}" for name, reason in wanted.items())


def _able(cpu: str, kind: Kind) -> tuple[dict[str, str | None], list[str]]:
    """Why each engine that is wanted cannot count, and those that can."""
    reasons = {"qemu": block_plugin.missing(), "unicorn": Unicorn().missing(cpu)}
    wanted = {name: reasons[name] for name in reasons if kind == name or kind not in reasons}
    return wanted, [name for name, reason in wanted.items() if reason is None]


def count_blocks(request: RunRequest, kind: Kind = "auto") -> Counted:
    """Count one inference.

    Args:
        request: The program (`BuildResult.emulation`) and one sample.
        kind: "qemu" by a plugin, "unicorn" by its hooks, "all" by both, which must agree; else the
            first of them that can.

    Raises:
        InputRefused: Neither can here.
        NoCounts: QEMU does not take the plugin, and no other is to count.
        RunFailed: The firmware failed, or the two disagree.
    """
    told, (_, able) = uncountable(request.board.cpu, kind), _able(request.board.cpu, kind)
    if told is not None:
        reason = f"nothing here can count them: {told}"
        raise InputRefused("profile", "functions", reason, "see what onnx2mcu doctor says")
    elf = Elf(request.elf)
    elf.check_architecture(request.board)
    found: dict[str, tuple[BlockCount, ...]] = {}
    for name in able:
        try:
            found[name] = tuple(_COUNTERS[name](request))
        except block_plugin.NoCounts:
            if kind == "all" or name == able[-1]:
                raise
            continue
        if kind != "all":
            break
    tables = [function_counts.per_function(elf, blocks, request) for blocks in found.values()]
    for other in tables[1:]:
        function_counts.require_same(tables[0], other)
    return Counted(elf, request, tuple(found), next(iter(found.values())), tuple(tables[0]))


def count_functions(
    request: RunRequest, kind: Kind = "auto", hooks: Path | None = None
) -> tuple[tuple[str, ...], list[Counter[str]]]:
    """Count one inference, function by function.

    Args:
        request: The program (`BuildResult.emulation`) and one sample.
        kind: As for `count_blocks`; but "renode" by its profiler, which goes by calls.
        hooks: The program for Renode (`BuildResult.hooks`).

    Returns:
        The engines that counted; per layer, instructions by function: their sum is the layer's.

    Raises:
        InputRefused: Nothing can here.
        RunFailed: The firmware failed, or two engines disagree.
    """
    if kind == "renode" and hooks is not None:
        engine = Renode()
        return (engine.name,), engine.count_functions(replace(request, elf=hooks))
    counted = count_blocks(request, kind)
    return counted.engines, list(counted.functions)
