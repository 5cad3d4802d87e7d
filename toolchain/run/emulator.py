"""One protocol for all engines: what a run needs and what it gives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Board
from toolchain.emit.project import FirmwareModel
from toolchain.errors import RunFailed
from toolchain.run.build import BuildResult

MARK = "onnx2mcu_mark"
"""The function of the harnesses that is called before every layer and after the last."""
CALIBRATION = 2
"""The first marks of a boot have nothing between them: what they count is taken off all others."""


@dataclass(frozen=True)
class RunRequest:
    """N inferences in one boot.

    Attributes:
        elf: The harness, `Emulator.elf(build)`.
        board: The board whose memory sizes hold.
        model: The model in the firmware.
        samples: Inputs of each inference: int8 codes of all ports, concatenated in port order.
        dump_samples: After how many of the first samples every layer's outputs are kept.
        timeout_s: Wall time for the whole run, in seconds.
        emulated_s: Emulated time for one inference, in seconds, where the engine keeps such a time
            (Renode); None: as many as `timeout_s`.
    """

    elf: Path
    board: Board
    model: FirmwareModel
    samples: Sequence[bytes]
    dump_samples: int = 0
    timeout_s: float = 120.0
    emulated_s: float | None = None

    def __post_init__(self) -> None:
        wanted = sum(port.nbytes for port in self.model.inputs)
        for index, sample in enumerate(self.samples):
            if len(sample) != wanted:
                reason = f"{len(sample)} bytes, but the model's inputs take {wanted}"
                raise RunFailed("emulate", f"sample {index}", reason)

    @property
    def dumped(self) -> int:
        """Samples whose layers are kept."""
        return min(self.dump_samples, len(self.samples))


@dataclass(frozen=True)
class RunResult:
    """What came back.

    Attributes:
        emulator: Name of the engine.
        core: The core that was emulated, as the engine calls it.
        outputs: Outputs of each sample, all ports concatenated in port order.
        console: What the firmware printed.
        instructions: Instructions per sample and layer, int64 [samples, layers].
        stack_bytes: Deepest stack of an inference, from the call on, in bytes.
        dumps: Per dumped sample and layer, the bytes of the layer's outputs.
    """

    emulator: str
    core: str
    outputs: list[bytes]
    console: str
    instructions: NDArray[np.int64]
    stack_bytes: int
    dumps: list[list[bytes]] = field(default_factory=list)


class Emulator(Protocol):
    """An engine."""

    @property
    def name(self) -> str:
        """Name on the command line."""

    def missing(self, cpu: str) -> str | None:
        """Why this engine cannot run a core here, one line with the remedy; None when it can."""

    def elf(self, build: BuildResult) -> Path:
        """The program this engine runs."""

    def run(self, request: RunRequest) -> RunResult:
        """Run all samples.

        Raises:
            RunFailed: A fault, a kernel's status, a time-out, or trouble with the engine.
        """
