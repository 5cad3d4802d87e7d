"""What a project costs on its board: bytes of the linked program, time, energy."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from toolchain.board import Board
from toolchain.errors import GateFailed, InputRefused
from toolchain.pipeline.emulation import emulate
from toolchain.pipeline.profiling import one_sample
from toolchain.project import Manifest, Project
from toolchain.results import Built, Emulation
from toolchain.run import DoesNotFit, Elf, Kind, Sizes, build, choose, require_tools
from toolchain.run.cycles import CORE, estimate_cycles, missing
from toolchain.solve import Costs, Limits, constraints_of, missed

CYCLES = "estimated cycles"
COUNTED = "counted instructions, one per cycle"
PREDICTED = "predicted instructions, one per cycle"


class Meter:
    """Measures projects, as exactly as this machine can.

    Args:
        board: The board of all of them.
        limits: What has to be known.
        emulator: Who counts instructions.

    Raises:
        InputRefused: What is limited cannot be known: flash without a compiler, energy without a
            power figure.
    """

    def __init__(self, board: Board, limits: Limits, emulator: Kind = "auto") -> None:
        self._board, self._limits, self._emulator = board, limits, emulator
        if limits.energy_uj is not None and board.power is None:
            raise InputRefused(
                "solve",
                board.name,
                "its power is not known, so energy cannot be limited",
                "limit the latency, or add [power] with milliamperes, volts and their source to a "
                "board file of yours",
            )
        self._builds = limits.flash is not None or _there(require_tools)
        if self._builds:
            require_tools()
        self._runs = self._builds and _there(lambda: choose(emulator, board))
        if emulator != "auto":
            choose(emulator, board)

    def measure(self, folder: Path, least: Costs) -> Costs:
        """The costs of a project.

        Args:
            folder: The project.
            least: What is known without a compiler.

        Raises:
            InputRefused: The latency is limited and nothing here knows it.
            RunFailed: It does not compile, or its firmware fails.
        """
        project = Project(folder)
        if not self._builds:
            return self._timed(least, predicted(project.manifest), PREDICTED)
        try:
            sizes = Elf(build(folder, self._board).firmware).sizes
        except DoesNotFit as error:
            return replace(least, unfit=error.reason, advice=error.hint)
        costs = replace(built_costs(sizes, self._board), unfit=least.unfit)
        if not self._runs:
            return self._timed(costs, predicted(project.manifest), PREDICTED)
        run = partial(emulate, folder, None, self._emulator, 1)
        return self._timed(costs, *counted(project, self._board, run))

    def _timed(self, costs: Costs, cycles: int | None, basis: str) -> Costs:
        if cycles is None and self._limits.timed:
            raise InputRefused(
                "solve",
                self._board.name,
                "the latency is not known: no emulator here, and kernels that were not measured",
                "install an emulator: onnx2mcu doctor",
            )
        return timed(costs, self._board, cycles, basis)


def require_limits(directory: Path, limits: Limits, built: Built, run: Emulation) -> None:
    """Hold what was built and run against the limits once more: the emulator saw all samples.

    Raises:
        GateFailed: One is not kept.
    """
    if limits == Limits():
        return
    board = built.board
    spent = counted(Project(directory), board, lambda: run)
    costs = timed(built_costs(built.sizes, board), board, *spent)
    wrong = missed(constraints_of(limits), costs)
    if wrong:
        told = ", ".join(f"{c.metric.text(c.metric.of(costs) or 0)} ({c})" for c in wrong)
        raise GateFailed("solve", "", f"over all samples it takes {told}", "allow a little more")


def built_costs(sizes: Sizes, board: Board) -> Costs:
    """Bytes of a program in all memories of a board."""
    further = {"flash": 0, "ram": 0}
    for name, used in sizes.memories.items():
        further[board.usable(name).kind] += used
    return Costs(sizes.flash + further["flash"], sizes.ram + further["ram"], built=True)


def timed(costs: Costs, board: Board, cycles: int | None, basis: str) -> Costs:
    """The costs with time and energy.

    Args:
        costs: Bytes.
        board: Its clock and its power.
        cycles: Of an inference; None is unknown.
        basis: What they are.
    """
    if cycles is None:
        return costs
    latency = cycles / board.clock_hz * 1e3
    energy = None if board.power is None else latency * board.power.milliwatts
    return replace(costs, latency_ms=latency, energy_uj=energy, basis=basis)


def counted(project: Project, board: Board, run: Callable[[], Emulation]) -> tuple[int | None, str]:
    """What an inference takes, and what that is: cycles where there is an estimate of them.

    Args:
        project: The project.
        board: Its board.
        run: Runs its firmware, else.
    """
    if estimates_cycles(board):
        return cycles_of(project), CYCLES
    return run().instructions, COUNTED


def estimates_cycles(board: Board) -> bool:
    """Whether there is an estimate of cycles for the core, here."""
    return board.cpu == CORE and missing() is None


def cycles_of(project: Project) -> int:
    """Estimated cycles of an inference with the first stored sample."""
    return int(estimate_cycles(one_sample(project)).sum())


def predicted(manifest: Manifest) -> int | None:
    """Instructions of an inference as the cost table expects; None where it knows a kernel not."""
    found = [layer.predicted for layer in manifest.layers if layer.predicted is not None]
    return sum(found) if len(found) == len(manifest.layers) else None


def _there(require: Callable[[], object]) -> bool:
    """Whether something that refuses when it is missing is there."""
    try:
        require()
    except InputRefused:
        return False
    return True
