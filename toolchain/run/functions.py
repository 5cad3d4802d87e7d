"""Executed instructions per function, by whichever engine can count them."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from toolchain.errors import InputRefused
from toolchain.run import block_plugin, function_counts
from toolchain.run.elf import Elf
from toolchain.run.emulator import RunRequest
from toolchain.run.engines import Kind
from toolchain.run.renode import Renode
from toolchain.run.unicorn import Unicorn

_COUNTERS = {"qemu": block_plugin.count_blocks, "unicorn": function_counts.count_blocks}


def count_functions(
    request: RunRequest, kind: Kind = "auto", hooks: Path | None = None
) -> tuple[tuple[str, ...], list[Counter[str]]]:
    """Count one inference, function by function.

    Args:
        request: The program (`BuildResult.emulation`) and one sample.
        kind: "qemu" by a plugin, "unicorn" by its hooks, "all" by both, which must agree;
            "renode" by its profiler, which goes by calls; else the first of the first two that can.
        hooks: The program for Renode (`BuildResult.hooks`).

    Returns:
        The engines that counted; per layer, instructions by function: their sum is the layer's.

    Raises:
        InputRefused: Neither can here.
        RunFailed: The firmware failed, or the two disagree.
    """
    if kind == "renode" and hooks is not None:
        engine = Renode()
        return (engine.name,), engine.count_functions(replace(request, elf=hooks))
    reasons = {"qemu": block_plugin.missing(), "unicorn": Unicorn().missing(request.board.cpu)}
    wanted = [kind] if kind in reasons else list(reasons)
    able = [name for name in wanted if reasons[name] is None]
    if not able:
        told = "; ".join(f"{name}: {reasons[name]}" for name in wanted)
        raise InputRefused("profile", "functions", f"nothing here can count them: {told}")
    elf = Elf(request.elf)
    used = able if kind == "all" else able[:1]
    tables = [function_counts.per_function(elf, _COUNTERS[n](request), request) for n in used]
    for other in tables[1:]:
        function_counts.require_same(tables[0], other)
    return tuple(used), tables[0]
