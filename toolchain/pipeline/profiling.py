"""Where the instructions of an inference go."""

from dataclasses import replace
from pathlib import Path

from toolchain.pipeline.emulation import emulate
from toolchain.pipeline.samples import port_bytes
from toolchain.project import Project
from toolchain.results import FunctionProfile, Profile, ProfiledLayer
from toolchain.run import Kind, RunRequest, build, count_functions
from toolchain.run.cycles import CORE, estimate_cycles, missing
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
    graph, run = project.graph(), emulate(directory, None, emulator, 1, timeout_s)
    other = emulate(against, None, emulator, 1, timeout_s) if against else None
    before = dict(other.layers) if other else {}
    ops = [op for op in graph.ops if not op.is_view]
    cpu = project.manifest.board.cpu
    cycles: list[int | None] = [None] * len(ops)
    if cpu == CORE and missing() is None:
        cycles = [int(count) for count in estimate_cycles(one_sample(project))[0]]
    layers = []
    facts = zip(ops, project.manifest.layers, run.layers, cycles, strict=True)
    for op, fact, (name, count), estimate in facts:
        tensors = dict.fromkeys((*op.inputs, *op.outputs))
        moved = sum(graph.types[n].nbytes for n in tensors if n not in graph.constants)
        cost = count, fact.macs, fact.weights_bytes, moved, ROOFS[cpu], before.get(name), estimate
        layers.append(ProfiledLayer(name, fact.kernel, *cost))
    return Profile(
        run.emulator, run.core, tuple(layers), None if other is None else other.instructions
    )


def one_sample(project: Project) -> RunRequest:
    """Build a project; the run of its first stored sample."""
    board, model = project.manifest.board, project.manifest.firmware
    sample = port_bytes(project.graph().inputs, project.samples()[0])
    return RunRequest(build(project.directory, board).emulation, board, model, [sample])


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
