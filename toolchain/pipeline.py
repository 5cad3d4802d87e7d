"""The corridor: the only file that knows every room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto

from toolchain import passes
from toolchain.board import load_board
from toolchain.check.compare import Gates
from toolchain.check.evaluate import Evaluation, evaluate, input_codes
from toolchain.check.trace import first_difference, first_sample
from toolchain.emit import identifier, write_code, write_firmware, write_model
from toolchain.errors import GateFailed, InputRefused
from toolchain.frontend.inputs import InputSpec, model_inputs
from toolchain.frontend.load import load_model
from toolchain.frontend.read import Imported, read
from toolchain.frontend.samples import Samples, load_samples
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, DType, Graph, Stage, Target, verify
from toolchain.options import ConvertOptions, Progress, silent
from toolchain.plan import Plan, check_plan, plan_memory, require_fit, schedule
from toolchain.project import (
    Project,
    Source,
    firmware_of,
    manifest_of,
    write_records,
    written_aside,
)
from toolchain.quant.calibrate import Range, calibrate
from toolchain.quant.prune import Pruned, prune
from toolchain.quant.quantize import calibrated_tensors, quantize
from toolchain.results import (
    Built,
    Emulation,
    InspectedLayer,
    Inspection,
    Profile,
    ProfiledLayer,
)
from toolchain.run import (
    Elf,
    Kind,
    RunRequest,
    RunResult,
    choose,
    require_agreement,
    require_tools,
)
from toolchain.run import build as build_project
from toolchain.run.doctor import Check, doctor
from toolchain.select import Choice, select_kernels

STORED_SAMPLES = 16


def inspect(
    model_path: Path,
    board_name: str | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Inspection:
    """What can be said of a model without data: layers, MACs, bytes, whether it fits.

    Raises:
        InputRefused: The model cannot be converted; every obstacle is listed.
    """
    board = load_board(board_name) if board_name else None
    imported = read(load_model(model_path), model_path.stem, shapes)
    _require_single_samples(imported)
    graph = schedule(_as_bytes(passes.run(imported.graph)))
    plan = plan_memory(graph, {}, board.alignment if board else 4)
    layers = tuple(
        InspectedLayer(
            op.name,
            type(op).__name__,
            graph.types[op.y].shape,
            op.macs(graph.types),
            sum(_integer_bytes(graph, x) for x in op.inputs if x in graph.constants),
        )
        for op in graph.ops
        if not op.is_view
    )
    weights = sum(layer.weights_bytes for layer in layers)
    fits = None
    if board is not None:
        fits = plan.arena_bytes <= board.ram.bytes and weights <= board.flash.bytes
    return Inspection(graph, layers, plan.arena_bytes, plan.peak_step, board, fits, imported.notes)


def _require_single_samples(imported: Imported) -> None:
    for spec in imported.inputs:
        if len(spec.shape) > 1 and spec.shape[0] != 1:
            example = ",".join(map(str, (1, *spec.shape[1:])))
            raise InputRefused(
                "read",
                spec.name,
                f"a batch of {spec.shape[0]}: the firmware takes one sample at a time",
                f"export with a batch of 1, or give --shape {spec.name}={example}",
            )


def _as_bytes(graph: Graph) -> Graph:
    """The float graph with activations counted as one byte per element."""
    return replace(graph, types={n: replace(t, dtype=DType.INT8) for n, t in graph.types.items()})


def _integer_bytes(graph: Graph, name: str) -> int:
    """Bytes of a constant once quantised: int32 for vectors (biases), else int8."""
    kind = graph.types[name]
    return kind.elements * (4 if len(kind.shape) == 1 else 1)


def convert(
    model_path: Path,
    calib: Path | None,
    board_name: str,
    directory: Path,
    options: ConvertOptions | None = None,
    progress: Progress = silent,
) -> Project:
    """Convert an ONNX model to a C project.

    Args:
        model_path: ONNX file.
        calib: Calibration data (see load_samples); None for a quantised model, which states its
            own scales.
        board_name: Name of a board, or a board file.
        directory: Output folder; written aside and renamed when complete.
        options: Choices; the defaults suit most.
        progress: Told about long work.

    Raises:
        InputRefused: The model, the data, the board or the folder cannot be used.
        GateFailed: The integer model misses a gate; nothing was written.
    """
    options = options or ConvertOptions()
    board = load_board(board_name)
    with written_aside(directory, force=options.force) as aside:
        model = load_model(model_path)
        imported = read(model, model_path.stem, options.shapes, options.outputs)
        _require_single_samples(imported)
        graph = passes.run(imported.graph)
        samples = None
        if calib is not None:
            samples = load_samples(
                calib, imported.inputs, options.max_samples, pixel_scale=options.pixel_scale
            )
        target = Target(board.isa, options.family)
        planned = _integers(graph, model, samples, target, options, progress)
        require_fit(planned.graph, planned.plan, board, options.stack_bytes)
        if options.gates is not None:
            if samples is None:
                raise InputRefused("convert", "", "gates need calibration data", "give --calib")
            _require(model, planned.graph, samples, options.gates, progress)
        prefix = identifier(options.prefix or model_path.stem)
        code = write_code(planned.graph, planned.choices, planned.plan, target, prefix)
        source = Source(
            model_path.name,
            sha256(model_path.read_bytes()).hexdigest(),
            tool_version(),
            board,
            options.family,
            options.method,
            0 if samples is None else len(samples),
            options.stack_bytes,
            options.shapes,
            options.pixel_scale,
            (*imported.notes, *(samples.warnings if samples else ()), *planned.notes),
            planned.warnings,
        )
        write_model(aside, code, source.facts())
        write_firmware(
            aside,
            firmware_of(code),
            board,
            options.cmsis_nn_dir,
            options.stack_bytes,
            optimize=options.optimize,
        )
        first = _first_codes(code.graph, samples)
        write_records(aside, model, code.graph, manifest_of(code, source), first)
    return Project(directory)


@dataclass(frozen=True, slots=True)
class _Planned:
    """A quantised graph with its kernels and its memory."""

    graph: Graph
    choices: Mapping[str, Choice]
    plan: Plan
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def _first_codes(graph: Graph, samples: Samples | None) -> list[dict[str, Array]]:
    """Codes of the first samples; random ones, always the same, when there are none."""
    if samples is not None:
        return [input_codes(graph, s) for _, s in zip(range(STORED_SAMPLES), samples, strict=False)]
    rng = np.random.default_rng(0)
    return [
        {x: rng.integers(-128, 128, graph.types[x].shape, np.int8) for x in graph.inputs}
        for _ in range(STORED_SAMPLES)
    ]


def _integers(
    graph: Graph,
    model: ModelProto,
    samples: Samples | None,
    target: Target,
    options: ConvertOptions,
    progress: Progress,
) -> _Planned:
    """Calibrate, quantise, prune, select kernels, schedule, plan memory."""
    tensors = calibrated_tensors(graph)
    ranges: dict[str, Range] = {}
    if samples is not None and tensors:
        if samples.codes:
            raise InputRefused(
                "calibrate", "", "the calibration data are int8 codes", "give real values"
            )
        ranges = calibrate(
            FloatSession(model, tensors),
            samples,
            tensors,
            options.method,
            options.percentile,
            lambda done, total: progress("calibrate", done, total),
        )
    quantized = quantize(graph, ranges)
    pruned = prune(quantized.graph) if options.prune else Pruned(quantized.graph, ())
    notes = [f"{name}: {lost} dead channels removed" for name, lost in pruned.dropped]
    graph = verify(pruned.graph, Stage.QUANTIZED)
    choices = select_kernels(graph, target, options.optimize)
    ordered = schedule(graph, choices, target.alignment, options.keep_inputs)
    plan = plan_memory(ordered, choices, target.alignment, options.keep_inputs)
    check_plan(ordered, choices, plan, target.alignment)
    return _Planned(ordered, choices, plan, tuple(notes), quantized.warnings)


def _require(
    model: ModelProto, graph: Graph, samples: Samples, gates: Gates, progress: Progress
) -> None:
    verdict = evaluate(
        model,
        graph,
        samples,
        gates=gates,
        progress=lambda done, total: progress("check gates", done, total),
    ).comparison
    if not verdict.passed:
        raise GateFailed("convert", "", "; ".join(verdict.reasons), "nothing was written")


def tool_version() -> str:
    """Version of the installed tool."""
    try:
        return version("onnx2mcu")
    except PackageNotFoundError:
        return "unknown"


def _data(project: Project, data: Path, max_samples: int | None, stage: str) -> Samples:
    """Samples for a project, pixels scaled as when it was converted."""
    scale = project.manifest.pixel_scale
    return load_samples(data, input_specs(project), max_samples, stage, pixel_scale=scale)


def input_specs(project: Project) -> list[InputSpec]:
    """The inputs of a project's model, with the shapes it was converted with."""
    specs, _ = model_inputs(onnx.load(project.model_path), project.manifest.shapes)
    return specs


def build(directory: Path) -> Built:
    """Compile a project for its board and for the emulator.

    Raises:
        InputRefused: There is no project, or no compiler.
        RunFailed: It does not compile, or does not fit.
    """
    board = load_board(Project(directory).manifest.board)
    programs = build_project(directory, board)
    return Built(programs, Elf(programs.firmware).sizes, board)


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
) -> Emulation:
    """Build a project and run its firmware on every sample, in one boot.

    Args:
        directory: The project.
        data: Samples; None takes the few that `convert` stored.
        emulator: "auto", "renode", "qemu", "unicorn", or "all", which must agree.
        max_samples: Run at most so many.
        timeout_s: Wall time limit of the emulator.

    Raises:
        InputRefused: No project, no such data, no emulator.
        RunFailed: The firmware crashed, hung, or a kernel refused its arguments; or engines
            disagree.
    """
    project = Project(directory)
    graph = project.graph()
    if data is None:
        samples = project.samples()[:max_samples]
    else:
        source = _data(project, data, max_samples, "emulate")
        samples = [input_codes(graph, sample) for sample in source]
    return _emulate(project, graph, samples, emulator, timeout_s)


def _emulate(
    project: Project,
    graph: Graph,
    samples: list[dict[str, Array]],
    emulator: Kind,
    timeout_s: float,
) -> Emulation:
    results = _runs(project, graph, samples, emulator, timeout_s)
    names = [layer.name for layer in project.manifest.layers]
    require_agreement(results, names)
    result = results[0]
    codes = _split_outputs(graph, result.outputs)
    path = project.directory / "outputs.npz"
    np.savez_compressed(path, **codes)  # type: ignore[arg-type]
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
    )


def _runs(
    project: Project,
    graph: Graph,
    samples: list[dict[str, Array]],
    emulator: Kind,
    timeout_s: float,
    dump_samples: int = 0,
) -> list[RunResult]:
    """Build the project and run it on every engine that was asked for."""
    board, model = load_board(project.manifest.board), project.manifest.firmware
    engines = choose(emulator, board)
    built = build_project(project.directory, board)
    inputs = [b"".join(s[x].tobytes() for x in graph.inputs) for s in samples]
    return [
        engine.run(RunRequest(engine.elf(built), board, model, inputs, dump_samples, timeout_s))
        for engine in engines
    ]


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
    layers = []
    for op, fact, (name, count) in zip(ops, project.manifest.layers, run.layers, strict=True):
        tensors = dict.fromkeys((*op.inputs, *op.outputs))
        moved = sum(graph.types[n].nbytes for n in tensors if n not in graph.constants)
        cost = count, fact.macs, fact.weights_bytes, moved, before.get(name)
        layers.append(ProfiledLayer(name, fact.kernel, *cost))
    return Profile(
        run.emulator, run.core, tuple(layers), None if other is None else other.instructions
    )


def _split_outputs(graph: Graph, outputs: Sequence[bytes]) -> dict[str, Array]:
    """Bytes of all outputs, sample after sample, as one array [N, ...] per output."""
    rows = np.frombuffer(b"".join(outputs), np.int8).reshape(len(outputs), -1)
    codes, start = {}, 0
    for y in graph.outputs:
        kind = graph.types[y]
        codes[y] = rows[:, start : start + kind.nbytes].reshape(-1, *kind.shape[1:])
        start += kind.nbytes
    return codes


def compare(
    directory: Path,
    data: Path,
    gates: Gates | None = None,
    emulator: Kind = "auto",
    max_samples: int | None = None,
    timeout_s: float = 600.0,
    progress: Progress = silent,
) -> tuple[Evaluation, Emulation]:
    """Run the firmware, the integer model and the float model on the same samples.

    Returns:
        The two judgements (firmware against integer model, integer model against float), and
        the run.
    """
    project = Project(directory)
    graph = project.graph()
    samples = _data(project, data, max_samples, "compare")
    codes = [input_codes(graph, sample) for sample in samples]
    run = _emulate(project, graph, codes, emulator, timeout_s)
    evaluation = evaluate(
        load_model(project.model_path),
        graph,
        samples,
        firmware=run.codes,
        gates=gates,
        progress=lambda done, total: progress("compare", done, total),
    )
    if evaluation.comparison.bit_exact is False:
        sample = first_sample(evaluation.codes, run.codes)
        found = _trace(project, graph, sample, codes[sample], emulator, timeout_s)
        evaluation = replace(evaluation, comparison=evaluation.comparison.explained(found))
    return evaluation, run


def _trace(
    project: Project,
    graph: Graph,
    sample: int,
    codes: dict[str, Array],
    emulator: Kind,
    timeout_s: float,
) -> str:
    """Run a sample that differs once more and dump every layer."""
    (result, *_) = _runs(project, graph, [codes], emulator, timeout_s, dump_samples=1)
    found = first_difference(graph, sample, codes, result.dumps[0])
    return f"first difference: {found}" if found else "no layer differs when run once more"


def diagnose() -> list[Check]:
    """What is installed and what is missing."""
    return list(doctor())
