"""Which layer works while several run row by row, by the function that is entered.

The marks of the layers cannot tell: they come before the whole segment. Every row is a call of a
function of its layer, through a table of pointers, so the function is there whatever the compiler
inlines; what runs the segment itself is known by name.
"""

import re
from collections import Counter
from typing import NamedTuple

from toolchain.emit.project import FirmwareModel
from toolchain.run.elf import Elf
from toolchain.run.emulator import CALIBRATION

_ROW = re.compile(r"row_(\d{2,})_\w+")
_OURS = r"(rows_\d{{2,}}_\w+|{prefix}_(run|begin|push_row|finish|position|place))(\.\w+)*"


class Owner(NamedTuple):
    """Code that changes whose the instructions are.

    Args:
        start: Its first address.
        end: The first behind it.
        phase: Phase of the layer whose row begins when a block at `start` is executed; 0: any block
            of it belongs to the phase of the last mark.
    """

    start: int
    end: int
    phase: int


def phase_of(layer: int) -> int:
    """The phase that the mark before a layer begins."""
    return CALIBRATION + 1 + layer


def owners(elf: Elf, model: FirmwareModel) -> tuple[Owner, ...]:
    """The owners of a program; none where the model says that no layers run row by row.

    A function that two layers share, as a linker may make of equal ones, is nobody's: what it
    executes stays with the last layer of the segment.

    Args:
        elf: The program.
        model: Its model.
    """
    layers = {layer for first, end in model.by_rows for layer in range(first, end)}
    rows = {}
    for name, start in elf.symbols.items():
        found = _ROW.fullmatch(name)
        if found and int(found[1]) in layers:
            rows[name] = (start & ~1, int(found[1]))
    sharing = Counter(start for start, _ in set(rows.values()))
    ours = re.compile(_OURS.format(prefix=re.escape(model.prefix)))
    outside = [Owner(f.start, f.end, 0) for f in elf.functions if rows and ours.fullmatch(f.name)]
    inside = [Owner(at, at, phase_of(i)) for at, i in set(rows.values()) if sharing[at] == 1]
    return tuple(sorted(outside + inside))
