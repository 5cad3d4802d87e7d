"""The options of the commands: names, help texts, and the values they take."""

from collections.abc import Callable
from enum import StrEnum
from math import inf, isfinite
from pathlib import Path
from typing import Annotated

import typer

from toolchain.ir import Family, Rounding
from toolchain.select import Optimize

MODEL = Annotated[Path, typer.Argument(help="ONNX file.", show_default=False)]
NO_PRUNE = Annotated[bool, typer.Option("--no-prune", help="Keep dead channels.")]
PROJECT = Annotated[Path, typer.Argument(help="Folder that convert wrote.", show_default=False)]
CALIB = Annotated[
    Path | None, typer.Option("--calib", help="Calibration data; quantised models need none.")
]
DATA = Annotated[Path, typer.Option("--data", help="Samples: .npz, .npy or a folder.")]
BOARD = Annotated[str, typer.Option("--board", help="Board name or board file.")]
OUT = Annotated[Path, typer.Option("-o", "--output", help="Folder of the project.")]
SHAPE = Annotated[
    list[str], typer.Option("--shape", help="NAME=1,3,96,96 for symbolic dimensions; repeatable.")
]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
FORCE = Annotated[bool, typer.Option("--force", help="Replace an earlier project.")]
PREFIX = Annotated[str, typer.Option("--prefix", help="Prefix of files and symbols.")]
OUTPUTS = Annotated[list[str], typer.Option("--outputs", help="Output to keep; repeatable.")]


def _finite(value: float | None) -> float | None:
    """Option values that are numbers: "nan" and "inf" pass every comparison or none."""
    if value is not None and not isfinite(value):
        raise typer.BadParameter(f"{value} is not a number to compute with.")
    return value


def _within(low: float, high: float = inf) -> Callable[[float | None], float | None]:
    """Option values that are numbers in a range; typer's own bounds say odd things of "nan"."""

    def checked(value: float | None) -> float | None:
        value = _finite(value)
        if value is not None and not low <= value <= high:
            bound = f"below {low:g}" if value < low else f"above {high:g}"
            raise typer.BadParameter(f"{value:g} is {bound}.")
        return value

    return checked


def _positive(value: float | None) -> float | None:
    """Option values that are numbers above 0."""
    if value is not None and not (isfinite(value) and value > 0):
        raise typer.BadParameter(f"{value} is not above 0.")
    return value


SAMPLES = Annotated[int | None, typer.Option("--samples", help="Use at most so many.", min=1)]
POISON = Annotated[
    bool,
    typer.Option(
        "--poison",
        help="Run again with dead memory overwritten before every layer: the same bytes.",
    ),
]
PERCENTILE = Annotated[
    float, typer.Option(help="Share of values to keep, in percent.", callback=_finite)
]
SCALE = Annotated[
    float,
    typer.Option("--pixel-scale", help="Value of one step of 8-bit pixels.", callback=_positive),
]
STACK = Annotated[int, typer.Option("--stack", help="Bytes of stack to reserve.")]
KEEP = Annotated[bool, typer.Option("--keep-inputs", help="Inputs survive a run.")]
KERNELS = Annotated[
    Family | None,
    typer.Option("--kernels", help="Whose kernels to call; fast, or cmsis-nn with --cmsis-nn-dir."),
]
OPTIMIZE = Annotated[
    Optimize, typer.Option("--optimize", help="Fewest instructions, or least code.")
]
RAM = Annotated[
    str,
    typer.Option(
        "--ram",
        metavar="auto|min|BYTES",
        help="Small at full speed; the smallest arena, row by row; or the fastest plan that fits.",
    ),
]
ARENA_IN = Annotated[
    str | None,
    typer.Option(
        "--arena-in",
        metavar="NAME[:BYTES],...|auto",
        help="Memories of the board that hold the arena, in parts where it must, fastest first.",
    ),
]
WEIGHTS_IN = Annotated[
    str | None,
    typer.Option("--weights-in", metavar="NAME", help="Flash of the board for the weights."),
]
HOT = Annotated[
    str | None,
    typer.Option(
        "--hot-weights",
        metavar="NAME[:BYTES]",
        help="RAM into which the weights that are read most are copied at start.",
    ),
]
ROWS = Annotated[
    bool,
    typer.Option(
        "--input-rows",
        help="The firmware takes its input, one image, row by row: pixels with their channels "
        "together, whatever the layout of the model.",
    ),
]
ARM = Annotated[
    Path | None,
    typer.Option("--cmsis-nn-dir", envvar="CMSIS_NN_DIR", help="Arm's CMSIS-NN, to link it."),
]
TIMEOUT = Annotated[
    float,
    typer.Option("--timeout", help="Seconds the emulator may take.", callback=_within(0.01)),
]
AGREEMENT = Annotated[
    float | None,
    typer.Option(help="Gate: share of equal top-1 classes, 0 to 1.", callback=_within(0, 1)),
]
SQNR = Annotated[
    float | None, typer.Option(help="Gate: signal to quantisation noise, dB.", callback=_finite)
]
DROP = Annotated[
    float | None,
    typer.Option(help="Gate: accuracy that may be lost, in points.", callback=_within(0)),
]
MAX_FLASH = Annotated[
    int | None, typer.Option(help="Limit: bytes of flash, as build counts them.", min=1)
]
MAX_RAM = Annotated[
    int | None, typer.Option(help="Limit: bytes of RAM with the stack, as build counts.", min=1)
]
MAX_LATENCY = Annotated[
    float | None, typer.Option(help="Limit: milliseconds of an inference.", callback=_positive)
]
MAX_ENERGY = Annotated[
    float | None, typer.Option(help="Limit: microjoules of an inference.", callback=_positive)
]
EXPLAIN = Annotated[
    bool, typer.Option("--explain", help="Measure every candidate; show the trade-off.")
]


class Calibration(StrEnum):
    """How ranges follow from the data."""

    AUTO = "auto"
    MINMAX = "minmax"
    PERCENTILE = "percentile"
    ENTROPY = "entropy"
    MSE = "mse"


class Weights(StrEnum):
    """How float weights become integers."""

    AUTO = "auto"
    NEAREST = "nearest"


class RoundingRule(StrEnum):
    """How often products are rounded."""

    AUTO = "auto"
    SINGLE = "single"
    DOUBLE = "double"

    @property
    def rounding(self) -> Rounding | None:
        """The rounding; None where the model decides."""
        return None if self is RoundingRule.AUTO else Rounding(self.value)


class Engine(StrEnum):
    """Which emulator runs the firmware."""

    AUTO = "auto"
    ALL = "all"
    RENODE = "renode"
    QEMU = "qemu"
    UNICORN = "unicorn"


class Examined(StrEnum):
    """Emulators of which something is assumed."""

    RENODE = "renode"


METHOD = Annotated[Calibration, typer.Option("--calibration", help="How ranges are chosen.")]
ROUNDING = Annotated[
    RoundingRule,
    typer.Option(
        "--rounding",
        help="Roundings per requantised product: CMSIS-NN's two, ONNX's one, or as quantised.",
    ),
]
WEIGHTS = Annotated[
    Weights | None,
    typer.Option(
        "--weights",
        help="Refined where that helps the outputs (auto, with --calibration auto the default), "
        "or rounded to nearest.",
    ),
]
INT16 = Annotated[
    list[str],
    typer.Option(
        "--int16", help="Layer (or * pattern) with int16 codes; auto: as gates need; repeatable."
    ),
]
INT4 = Annotated[
    list[str],
    typer.Option(
        "--int4", help="Layer (or * pattern) with int4 weights; auto: as gates allow; repeatable."
    ),
]
PURE = Annotated[bool, typer.Option("--pure-int8", help="Refuse int16 codes and int4 weights.")]
EMULATOR = Annotated[Engine, typer.Option("--emulator", help="Which engine runs the firmware.")]
