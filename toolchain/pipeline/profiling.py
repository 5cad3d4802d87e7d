"""Where the instructions of an inference go."""

from dataclasses import dataclass, replace
from pathlib import Path

from toolchain.pipeline.emulation import emulate
from toolchain.pipeline.samples import input_bytes
from toolchain.project import Project
from toolchain.results import Emulation, FunctionProfile, Profile, ProfiledLayer
from toolchain.run import (
    Counted,
    Kind,
    NoCounts,
    RunRequest,
    build,
    count_blocks,
    count_functions,
    uncountable,
)
from toolchain.run.cycles import CORE, layer_cycles, missing
from toolchain.run.roofline import ROOFS


def profile(
    directory: Path, against: Path | None = None, emulator: Kind = "auto", timeout_s: float = 600.0
) -> Profile:
    """Where the instructions of an inference go, measured on one stored sample.

    Args:
        directory: The project.
        against: Another project, of the same model say, to compare layer by layer.
        emulator: As for emulate.
        timeout_s: Wall time limit of the emulator.

    Raises:
        InputRefused: No project, no emulator.
        RunFailed: The firmware crashed, hung, or a kernel refused its arguments.
    """
    project = Project(directory)
    graph, seen = project.graph(), _measure(directory, emulator, timeout_s)
    other = _measure(against, emulator, timeout_s) if against else None
    before = dict(zip(other.names, other.instructions, strict=True)) if other else {}
    ops = [op for op in graph.ops if not op.is_view]
    cpu = project.manifest.board.cpu
    cycles: list[int | None] = [None] * len(ops)
    if cpu == CORE and missing() is None:
        counted = seen.counted or _counted(project, "auto", timeout_s)
        cycles = list(layer_cycles(counted).tolist()) if counted else cycles
    layers = []
    facts = zip(ops, project.manifest.layers, seen.instructions, cycles, strict=True)
    for op, fact, count, estimate in facts:
        tensors = dict.fromkeys((*op.inputs, *op.outputs))
        moved = sum(graph.types[n].nbytes for n in tensors if n not in graph.constants)
        cost = count, fact.macs, fact.weights_bytes, moved, ROOFS[cpu], before.get(fact.name)
        layers.append(ProfiledLayer(fact.name, fact.kernel, *cost, estimate))
    return Profile(
        seen.run.emulator,
        seen.run.core,
        tuple(layers),
        None if other is None else sum(other.instructions),
        () if seen.counted else seen.run.together,
        _by_function(project, seen.counted) if seen.counted else None,
    )


@dataclass(frozen=True)
class _Measured:
    """One inference: as marks count it, and block by block where something can count blocks."""

    run: Emulation
    counted: Counted | None

    @property
    def names(self) -> tuple[str, ...]:
        """Layers."""
        return tuple(name for name, _ in self.run.layers)

    @property
    def instructions(self) -> tuple[int, ...]:
        """Of each layer; rows count at their own layer where blocks were counted."""
        if self.counted is None:
            return tuple(count for _, count in self.run.layers)
        return tuple(functions.total() for functions in self.counted.functions)


def _measure(directory: Path, emulator: Kind, timeout_s: float) -> _Measured:
    run = emulate(directory, None, emulator, 1, timeout_s)
    return _Measured(run, _counted(Project(directory), emulator, timeout_s))


def _counted(project: Project, emulator: Kind, timeout_s: float) -> Counted | None:
    """The blocks of the first stored sample; None where nothing can count them."""
    kind: Kind = "auto" if emulator == "renode" else emulator
    if uncountable(project.manifest.board.cpu, kind) is not None:
        return None
    try:
        return count_blocks(replace(one_sample(project), timeout_s=timeout_s), kind)
    except NoCounts:
        return None  # the counts between marks stand; who wants functions is told why


def _by_function(project: Project, counted: Counted) -> FunctionProfile:
    names = (layer.name for layer in project.manifest.layers)
    layers = tuple(zip(names, counted.functions, strict=True))
    return FunctionProfile(counted.request.model.entry, counted.engines, layers)


def one_sample(project: Project) -> RunRequest:
    """Build a project; the run of its first stored sample."""
    board, model = project.manifest.board, project.manifest.firmware
    sample = input_bytes(project.graph(), model, project.samples()[0])
    return RunRequest(build(project.directory, board).emulation, board, model, [sample])


def functions_if_countable(
    directory: Path, emulator: Kind = "auto", timeout_s: float = 600.0
) -> FunctionProfile | None:
    """Instructions by layer and function on the first stored sample; None if nothing counts.

    Args:
        directory: The project.
        emulator: Who counts; Renode leaves it to the others.
        timeout_s: Wall time limit of the emulator.

    Raises:
        RunFailed: The firmware failed, or two engines disagree.
    """
    project = Project(directory)
    counted = _counted(project, emulator, timeout_s)
    return _by_function(project, counted) if counted else None


def profile_functions(
    directory: Path, emulator: Kind = "auto", timeout_s: float = 600.0
) -> FunctionProfile:
    """The same by function, measured on the same stored sample.

    Args:
        directory: The project.
        emulator: Who counts; see `count_functions`.
        timeout_s: Wall time limit of the emulator.

    Raises:
        InputRefused: No project, or nothing here can count functions.
        RunFailed: The firmware failed, or two engines disagree.
    """
    project = Project(directory)
    request = replace(one_sample(project), timeout_s=timeout_s)
    hooks = None
    if emulator == "renode":
        hooks = build(project.directory, request.board).hooks
    engines, counts = count_functions(request, emulator, hooks)
    names = (layer.name for layer in project.manifest.layers)
    return FunctionProfile(request.model.entry, engines, tuple(zip(names, counts, strict=True)))
