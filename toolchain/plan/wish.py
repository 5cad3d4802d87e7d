"""What the memory is planned for."""

from dataclasses import dataclass
from enum import StrEnum

from toolchain.select import Optimize


class Ram(StrEnum):
    """What the plan of the memory is made for, unless for a number of bytes."""

    AUTO = "auto"
    """Layers one after the other, and a few in bands of rows where that costs next to nothing."""
    MIN = "min"
    """The smallest arena that is found, with layers row by row."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the memory is planned for.

    Args:
        ram: A number: the fastest plan whose arena has at most so many bytes.
        optimize: What kernels are chosen for.
        keep_inputs: Inputs survive a run.
        by_rows: The caller hands the input over row by row.
    """

    ram: Ram | int = Ram.AUTO
    optimize: Optimize = Optimize.SPEED
    keep_inputs: bool = False
    by_rows: bool = False
