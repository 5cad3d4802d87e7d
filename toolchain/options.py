"""What a user may choose when converting, and how long work tells its progress."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from toolchain.check.compare import Gates
from toolchain.errors import InputRefused
from toolchain.ir import Family, Rounding
from toolchain.plan import Ram, Wish
from toolchain.quant.ranges import PERCENTILE, Calibration
from toolchain.select import Optimize

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total) while something takes long."""


_CHOICES: Mapping[str, type[StrEnum]] = {
    "kernels": Family,
    "optimize": Optimize,
    "ram": Ram,
    "rounding": Rounding,
}
"""Options that take a choice by its plain name, too."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """Progress that goes nowhere."""


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What a user may choose when converting.

    Args:
        method: How ranges follow from the calibration data; "auto": whatever serves the outputs.
        percentile: Share of values to keep, in percent, for method "percentile".
        max_samples: Use at most so many calibration samples; None uses all.
        pixel_scale: Real value of one step of 8-bit pixel data.
        shapes: Input shapes for models with symbolic dimensions.
        outputs: Outputs to keep; empty keeps all float ones.
        prefix: Prefix of files and symbols; "" makes one from the file's name.
        kernels: Whose kernels to call; None: CMSIS-NN's where a copy is given, else fast ones.
        cmsis_nn_dir: A copy of Arm's CMSIS-NN to link.
        stack_bytes: Stack to reserve.
        keep_inputs: Inputs survive a run.
        gates: Constraints on the integer model over the calibration data; None checks nothing.
        goal: What "auto" of int16 and int4 aims at, where it is not required here but judged later
            over other data; None: the gates.
        force: Replace an earlier project.
        refine_weights: Choose weights and biases by the outputs' error; else round to nearest.
        prune: Remove channels that are dead after quantisation.
        optimize: What kernels are chosen and compiled for: speed or size.
        rounding: How integers are requantised; None: as the model's quantiser does (rounding_for).
        ram: What the memory is planned for; a number: the fastest plan of at most so many bytes.
        by_rows: The caller of the firmware hands the input over row by row.
        arena_in: Memories of the board for the arena, NAME[:BYTES] separated by commas, the
            preferred one first; "auto": all RAM inside the part; "": the board's RAM, whole.
        weights_in: Flash of the board for the weights; "": that of the code.
        hot_weights: NAME[:BYTES] of the RAM for copies of the weights that are read most; "": none.
        int16: Names of layers, or patterns with * and ?, that compute with int16 codes; "auto":
            as many as the gates need, the most sensitive first.
        int4: Names of layers, or patterns with * and ?, whose weights have 4 bits; "auto": as many
            as the gates allow, those with the most weights first.
        pure_int8: Refuse int16 codes, whoever asks for them, and int4 weights.
    """

    method: Calibration = "minmax"
    percentile: float = PERCENTILE
    max_samples: int | None = None
    pixel_scale: float = 1.0
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    prefix: str = ""
    kernels: Family | None = None
    cmsis_nn_dir: Path | None = None
    stack_bytes: int = 2048
    keep_inputs: bool = False
    gates: Gates | None = None
    goal: Gates | None = None
    force: bool = False
    refine_weights: bool = False
    prune: bool = True
    optimize: Optimize = Optimize.SPEED
    rounding: Rounding | None = None
    ram: Ram | int = Ram.AUTO
    by_rows: bool = False
    arena_in: str = ""
    weights_in: str = ""
    hot_weights: str = ""
    int16: tuple[str, ...] = ()
    int4: tuple[str, ...] = ()
    pure_int8: bool = False

    def __post_init__(self) -> None:
        """Take the plain names of choices, too.

        Raises:
            InputRefused: One is none of the choices.
        """
        for name, kind in _CHOICES.items():
            value = getattr(self, name)
            if value is None or isinstance(value, int):
                continue
            if value not in set(kind):
                known = ", ".join(kind)
                raise InputRefused("convert", name, f"{value!r} is no choice", f"one of {known}")
            object.__setattr__(self, name, kind(value))
        if self.pure_int8 and self.int16:
            raise InputRefused(
                "convert", "pure_int8", "layers are asked for with int16 codes", "give one of both"
            )
        if self.pure_int8 and self.int4:
            raise InputRefused(
                "convert", "pure_int8", "layers are asked for with int4 weights", "give one of both"
            )
        if self.int4 and self.family is Family.CMSIS_NN:
            raise InputRefused(
                "convert",
                "int4",
                "int4 weights are packed for kernels of other families than cmsis-nn",
                "--kernels fast or portable",
            )

    @property
    def wish(self) -> Wish:
        """What the memory is planned for."""
        return Wish(self.ram, self.optimize, self.keep_inputs, self.by_rows)

    @property
    def family(self) -> Family:
        """Whose kernels are called."""
        if self.kernels is not None:
            return self.kernels
        return Family.CMSIS_NN if self.cmsis_nn_dir else Family.FAST
