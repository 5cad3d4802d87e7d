"""Projects are built and their firmware is run."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from toolchain.board import load_board
from toolchain.check.evaluate import input_codes
from toolchain.errors import InputRefused, RunFailed
from toolchain.ir import Array, Graph
from toolchain.pipeline.engine_runs import run_engines
from toolchain.pipeline.poison import check_dead_memory
from toolchain.pipeline.samples import load_data
from toolchain.project import Project, write_file
from toolchain.results import Built, Emulation
from toolchain.run import (
    Elf,
    Kind,
    RunResult,
    check_programs,
    choose,
    engines,
    printed,
    require_agreement,
    require_tools,
)
from toolchain.run import build as build_project


def build(directory: Path) -> Built:
    """Compile a project for its board and for the emulator, and check the programs.

    Raises:
        InputRefused: There is no project, or no compiler.
        RunFailed: It does not compile, does not fit, or breaks a rule of `check_programs`.
    """
    manifest = Project(directory).manifest
    board = manifest.board
    programs = build_project(directory, board)
    facts = check_programs(programs, board, manifest.firmware)
    return Built(programs, Elf(programs.firmware).sizes, board, facts)


def require_ready(board_name: str, data: Path, emulator: Kind = "auto") -> None:
    """Refuse now what building and comparing would refuse after a conversion.

    Raises:
        InputRefused: An unknown board, a missing tool, emulator or data file.
    """
    require_tools()
    choose(emulator, load_board(board_name))
    if not data.exists():
        raise InputRefused("compare", str(data), "there is no such file or folder", "see --data")


def emulate(
    directory: Path,
    data: Path | None = None,
    emulator: Kind = "auto",
    max_samples: int | None = None,
    timeout_s: float = 600.0,
    *,
    poison: bool = False,
) -> Emulation:
    """Build a project and run its firmware on every sample, in one boot.

    Args:
        directory: The project.
        data: Samples; None takes the few that `convert` stored.
        emulator: "auto", "renode", "qemu", "unicorn", or "all", which must agree.
        max_samples: Run at most so many.
        timeout_s: Wall time limit of the emulator.
        poison: Run once more with dead memory overwritten before every layer.

    Raises:
        InputRefused: No project, no such data, no emulator.
        RunFailed: The firmware crashed, hung, or a kernel refused its arguments; engines
            disagree; outputs are not those that the project states; or they depend on dead
            memory.
    """
    project = Project(directory)
    graph = project.graph()
    if data is None:
        samples = project.samples()[:max_samples]
        run = run_codes(project, graph, samples, emulator, timeout_s, poison=poison)
        _require_expected(project, run)
        return run
    source = load_data(project, data, max_samples, "emulate")
    samples = [input_codes(graph, sample) for sample in source]
    return run_codes(project, graph, samples, emulator, timeout_s, poison=poison)


def _require_expected(project: Project, run: Emulation) -> None:
    """Refuse outputs that are not those the project states, as one of a single layer does."""
    for name, right in (project.expected() or {}).items():
        codes = run.codes[name].reshape(len(run.codes[name]), -1)
        wrong = np.argwhere(codes != right[: len(codes)].reshape(codes.shape))
        if len(wrong):
            sample, at = wrong[0]
            index = [int(i) for i in np.unravel_index(at, right.shape[1:])]
            reason = (
                f"{name}{index} of sample {sample}: firmware {codes[sample, at]}, integer model "
                f"{right[sample][tuple(index)]}; {len(wrong)} of {codes.size} wrong"
            )
            hint = "the kernel or its constants are wrong: report it with this folder"
            raise RunFailed("emulate", project.manifest.layers[-1].name, reason, hint)


def run_codes(
    project: Project,
    graph: Graph,
    samples: list[dict[str, Array]],
    emulator: Kind,
    timeout_s: float,
    *,
    poison: bool = False,
) -> Emulation:
    """Run a project's firmware on input codes; outputs.npz in its folder holds the results."""
    results = run_engines(project, graph, samples, emulator, timeout_s)
    names = [layer.name for layer in project.manifest.layers]
    require_agreement(results, names)
    result = results[0]
    if poison:
        check_dead_memory(project, graph, samples, result.outputs, emulator, timeout_s)
    codes = _split_outputs(graph, result.outputs)
    path = project.directory / "outputs.npz"
    _write_arrays(path, codes)
    per_layer = result.instructions.mean(axis=0)
    return Emulation(
        result.emulator,
        result.core,
        len(samples),
        round(float(per_layer.sum())),
        result.stack_bytes,
        tuple((n, round(float(c))) for n, c in zip(names, per_layer, strict=True)),
        path,
        codes,
        tuple(other.emulator for other in results[1:]),
        _absent(results) if emulator == "all" else (),
        printed(result.console),
        tuple((a, z) for a, z in project.manifest.firmware.by_rows if z - a > 1),
        poison,
    )


def _absent(results: Sequence[RunResult]) -> tuple[str, ...]:
    ran = {result.emulator for result in results}
    return tuple(name for name in engines() if name not in ran)


def _write_arrays(path: Path, arrays: dict[str, Array]) -> None:
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)  # type: ignore[arg-type]
    hint = "copy the project to a folder of yours, or change its permissions"
    write_file(path, data.getvalue(), "emulate", hint)


def _split_outputs(graph: Graph, outputs: Sequence[bytes]) -> dict[str, Array]:
    """Bytes of all outputs, sample after sample, as one array [N, ...] per output."""
    rows = np.frombuffer(b"".join(outputs), np.int8).reshape(len(outputs), -1)
    codes, start = {}, 0
    for y in graph.outputs:
        kind = graph.types[y]
        part = np.ascontiguousarray(rows[:, start : start + kind.nbytes])
        codes[y] = part.view(kind.dtype.value).reshape(-1, *kind.shape[1:])
        start += kind.nbytes
    return codes
