"""manifest.json: what was converted, how, and what came out."""

import msgspec

from toolchain.board import Board
from toolchain.emit import FirmwareModel


class LayerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel call as `convert` reports it.

    Args:
        weight_bits: Of each weight; 0 where there are none.
    """

    name: str
    op: str
    kernel: str
    macs: int
    shape: tuple[int, ...]
    weights_bytes: int
    weight_bits: int = 0
    scratch_bytes: int
    rejected: tuple[str, ...] = ()
    predicted: int | None = None
    reason: str = ""


class GainFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What one way of quantising better did to the outputs on held-back samples.

    Args:
        technique: Its name.
        sqnr_db: SQNR of the worst output with it.
        gain_db: How much lower the error became.
        kept: It is in the result.
    """

    technique: str
    sqnr_db: float
    gain_db: float
    kept: bool


class StepFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One operator of the graph, views included, and the bytes of the arena it needs at least.

    Args:
        rows: How many layers it is, when it runs them row by row.
    """

    name: str
    nbytes: int
    rows: int = 0


class BufferFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One block of the arena: its tensors, where it is, and the steps during which it lives.

    Args:
        over: Blocks of dying inputs that it may overlap: name, and the least number of bytes by
            which it must begin before them.
    """

    name: str
    tensors: tuple[str, ...]
    offset: int
    nbytes: int
    first: int
    last: int
    over: tuple[tuple[str, int], ...] = ()


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What was converted, how, and what came out; manifest.json."""

    tool: str
    prefix: str
    source: str
    model_sha256: str
    board: Board
    """Its facts as they were at conversion: a board file need not be there later."""
    library: str
    calibration: str
    calibration_samples: int
    ranges: dict[str, str] = {}
    """How the range of each tensor was chosen."""
    gains: tuple[GainFacts, ...] = ()
    arena_bytes: int
    arena_lower_bound: int
    arena_optimal: bool
    peak_layer: str
    weights_bytes: int
    stack_bytes: int
    macs: int
    layers: tuple[LayerFacts, ...]
    buffers: tuple[BufferFacts, ...]
    steps: tuple[StepFacts, ...]
    firmware: FirmwareModel
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    shapes: dict[str, tuple[int, ...]] = {}
    pixel_scale: float = 1.0
    rounding: str = "double"
    files: tuple[str, ...] = ()
