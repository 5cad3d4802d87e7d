"""What the stages after conversion give, for the reports."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolchain.board import Board
from toolchain.check.board import BoardFindings
from toolchain.check.diagnosis import Diagnosis
from toolchain.check.exported import ExportCheck
from toolchain.ir import Array, Graph
from toolchain.plan import Shortage
from toolchain.run import BuildResult, ProgramFacts, Sizes
from toolchain.run.roofline import Roof


@dataclass(frozen=True, slots=True)
class Built:
    """The programs of a project, their sizes, and the board they have to fit.

    Args:
        programs: Where they are.
        sizes: Bytes of the program for the board.
        board: The board.
        facts: What the checks of the program found.
    """

    programs: BuildResult
    sizes: Sizes
    board: Board
    facts: ProgramFacts


@dataclass(frozen=True, slots=True)
class Emulation:
    """A run of the firmware in an emulator.

    Args:
        emulator: Engine.
        core: Core it emulated.
        samples: Number of inferences.
        instructions: Executed instructions per inference, mean over the samples.
        stack_bytes: Most stack that was used.
        layers: (name, instructions per inference) of every layer.
        outputs: File with the int8 codes [N, ...] of every output.
        codes: The same codes.
        agreeing: Other engines that ran it too and gave the same bytes and counts.
        absent: Engines that were asked for as well, and cannot run it here.
        console: What the firmware printed, if it did.
        together: Index of the first layer, and of the one behind the last, of those that run row by
            row: the last one has the instructions of all.
        poisoned: It ran once more with dead memory overwritten and gave the same bytes; all counts
            are those of the plain run.
    """

    emulator: str
    core: str
    samples: int
    instructions: int
    stack_bytes: int
    layers: tuple[tuple[str, int], ...]
    outputs: Path
    codes: Mapping[str, Array]
    agreeing: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    console: str = ""
    together: tuple[tuple[int, int], ...] = ()
    poisoned: bool = False


@dataclass(frozen=True, slots=True)
class ProfiledLayer:
    """What one layer costs.

    Args:
        name: Layer.
        kernel: C function.
        instructions: Executed per inference.
        macs: Multiply-accumulate operations.
        weight_bytes: Constants it reads from flash, once each.
        activation_bytes: Inputs it reads and outputs it writes, once each.
        roof: What the core does in a cycle at best.
        before: Instructions of the layer of the same name in the project compared with, or None.
        cycles: Estimated; None where there is no estimate for the core.
    """

    name: str
    kernel: str
    instructions: int
    macs: int
    weight_bytes: int
    activation_bytes: int
    roof: Roof
    before: int | None = None
    cycles: int | None = None

    @property
    def moved_bytes(self) -> int:
        """Bytes moved at least."""
        return self.weight_bytes + self.activation_bytes

    @property
    def bound(self) -> str:
        """What limits the layer at best: "compute" or "memory"."""
        return self.roof.bound(self.macs, self.moved_bytes)

    @property
    def intensity(self) -> float:
        """MACs per byte moved at least: low means that memory, not arithmetic, is the limit."""
        return self.macs / max(self.moved_bytes, 1)


@dataclass(frozen=True, slots=True)
class FunctionProfile:
    """Where the instructions of an inference go, function by function.

    Args:
        root: The function that is the inference.
        engines: Who counted; they agree.
        layers: (name, instructions by function) of every layer, in the order they run.
    """

    root: str
    engines: tuple[str, ...]
    layers: tuple[tuple[str, Mapping[str, int]], ...]

    @property
    def totals(self) -> list[tuple[str, int]]:
        """(function, instructions per inference), the dearest first."""
        total = Counter[str]()
        for _, counts in self.layers:
            total.update(counts)
        return sorted(total.items(), key=lambda item: (-item[1], item[0]))


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the instructions of an inference go.

    Args:
        emulator: Engine that counted.
        core: Core it emulated.
        layers: In the order they run.
        before: Instructions of the whole project compared with, or None.
        together: As in `Emulation`; empty where every layer was counted by itself.
        functions: The same by function; None where nothing can count them.
    """

    emulator: str
    core: str
    layers: tuple[ProfiledLayer, ...]
    before: int | None = None
    together: tuple[tuple[int, int], ...] = ()
    functions: FunctionProfile | None = None

    @property
    def instructions(self) -> int:
        """Executed per inference."""
        return sum(layer.instructions for layer in self.layers)

    def saved_by_halving(self, layer: ProfiledLayer) -> float:
        """Share of all instructions that go when a layer takes half of its own (Amdahl's law)."""
        return layer.instructions / 2 / max(self.instructions, 1)

    @property
    def cycles(self) -> int | None:
        """Estimated per inference; None where there is no estimate for the core."""
        found = [layer.cycles for layer in self.layers if layer.cycles is not None]
        return sum(found) if len(found) == len(self.layers) else None


@dataclass(frozen=True, slots=True)
class InspectedLayer:
    """One layer before calibration: shape of its output, MACs, bytes of int8 constants."""

    name: str
    op: str
    shape: tuple[int, ...]
    macs: int
    weights_bytes: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """What can be said of a model without data.

    Args:
        graph: The fused float graph.
        layers: Operators that compute.
        peak_bytes: Most bytes of int8 activations alive at once.
        peak_layer: Where that is.
        board: The board asked about, or None.
        short: Memories of the board that weights or activations and stack do not fit.
        notes: What was assumed.
    """

    graph: Graph
    layers: tuple[InspectedLayer, ...]
    peak_bytes: int
    peak_layer: str
    board: Board | None
    short: tuple[Shortage, ...]
    notes: tuple[str, ...]

    @property
    def fits(self) -> bool | None:
        """Whether the board has room for layers one after the other; None without a board."""
        return None if self.board is None else not self.short


@dataclass(frozen=True, slots=True)
class QdqExport:
    """An exported QDQ model.

    Args:
        path: The file.
        opset: Version of ONNX's operators it needs.
        samples: Samples it was checked on.
        check: ONNX Runtime against the integer model.
    """

    path: Path
    opset: int
    samples: int
    check: ExportCheck


@dataclass(frozen=True, slots=True)
class Without:
    """The integer model with some layers computed exactly.

    Args:
        layers: Their names.
        sqnr_db: SQNR of the worst output, in dB.
        agreement: Share of samples of the float model's class; None: no output names one.
        accuracy: Share of samples classified as labelled; None without labels.
    """

    layers: tuple[str, ...]
    sqnr_db: float
    agreement: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """Where the error of an integer model arises.

    Args:
        diagnosis: What was measured.
        advice: A sentence for every layer.
        notes: What looks doubtful about the data.
        without: What layers that were excluded would gain; None when none was.
        board: What a board computed; None when that is not known.
    """

    diagnosis: Diagnosis
    advice: Mapping[str, str]
    notes: tuple[str, ...]
    without: Without | None
    board: BoardFindings | None
