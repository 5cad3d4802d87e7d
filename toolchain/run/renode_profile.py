"""What Renode's profiler wrote, as instructions per layer and function.

The file has a line for every stretch between a call and the next call or return: names of the
functions on the stack, joined by semicolons, then the instructions of the stretch. The sum so far
is the number of instructions since the boot, which places a line between the marks of the layers.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolchain.emit.project import FirmwareModel
from toolchain.errors import RunFailed
from toolchain.run.emulator import CALIBRATION, MARK
from toolchain.run.renode_result import read_events
from toolchain.run.renode_session import STACKS

_HINT = "see onnx2mcu doctor --emulator renode"
_DECORATION = re.compile(r"(\+0x[0-9a-fA-F]+)?( \((entry|guessed)\))*$")
"""What some versions put behind a name."""


def per_function(
    folder: Path, counts: NDArray[np.int64], model: FirmwareModel
) -> list[Counter[str]]:
    """Instructions of every function, per layer; their sum is the layer's count.

    What the stretches do not tell, the calls of the marks for one, is booked at the function that
    runs the layers.

    Args:
        folder: Where a run of one sample left its files.
        counts: Instructions of each layer.
        model: The model.

    Raises:
        RunFailed: There are no stacks, or not as many instructions as were executed.
    """
    marks = [int(event[2]) for event in read_events(folder) if event[0] == "M"][CALIBRATION:]
    layers = [Counter[str]() for _ in model.layers]
    end = 0
    for name, start, end in stretches(folder / STACKS):
        for i in _touched(marks, start, end):
            layers[i][name] += min(end, marks[i + 1]) - max(start, marks[i])
    if end < marks[-1]:
        reason = f"the stacks end after {end:,} instructions, the last layer after {marks[-1]:,}"
        raise RunFailed("profile", "renode", reason, _HINT)
    for fact, found, count in zip(model.layers, layers, counts, strict=True):
        del found[MARK], found[model.entry]
        if found.total() > count:
            told = f"{found.total():,} instructions in the functions of {fact.name}, of {count:,}"
            raise RunFailed("profile", "renode", told, _HINT)
        found[model.entry] = int(count) - found.total()
    return [+found for found in layers]


def stretches(path: Path) -> Iterator[tuple[str, int, int]]:
    """(innermost function, instructions since the boot at its begin, at its end) of every line.

    Raises:
        RunFailed: A line is not "NAMES NUMBER".
    """
    end = 0
    lines = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
    for line in lines:
        stack, _, number = line.rpartition(" ")
        if not number.isdigit():
            raise RunFailed("profile", "renode", f"no collapsed stack: {line[:80]!r}", _HINT)
        start, end = end, end + int(number)
        yield _DECORATION.sub("", stack.rpartition(";")[2]), start, end


def _touched(marks: Sequence[int], start: int, end: int) -> range:
    """Layers that ran between two counts."""
    before = int(np.searchsorted(marks, start, side="right")) - 1
    after = int(np.searchsorted(marks, end, side="left"))
    return range(max(before, 0), min(after, len(marks) - 1))
