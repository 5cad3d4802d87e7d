"""From a model file to a project folder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from onnx import ModelProto

from toolchain import passes
from toolchain.board import Board, load_board
from toolchain.check.compare import Gates
from toolchain.check.evaluate import evaluate, input_codes
from toolchain.emit import (
    ModelCode,
    identifier,
    write_code,
    write_firmware,
    write_model,
    write_renode,
)
from toolchain.errors import GateFailed, InputRefused
from toolchain.frontend.load import load_model
from toolchain.frontend.read import Imported, read
from toolchain.frontend.rounding import Chosen, rounding_for
from toolchain.frontend.samples import Samples, load_samples
from toolchain.ir import Array, DType, Family, Graph, Rounding, Stage, Target, TensorType, verify
from toolchain.options import ConvertOptions, Progress, silent
from toolchain.pipeline.precision import AUTO, choose_wide
from toolchain.pipeline.samples import checked_sample, require_single_samples
from toolchain.plan import (
    Arranged,
    Memories,
    Plans,
    Ram,
    check_planned,
    divided,
    memories_of,
    require_fit,
    rows_notes,
)
from toolchain.project import (
    Project,
    Source,
    firmware_of,
    layer_names,
    layers_named,
    manifest_of,
    write_records,
    written_aside,
)
from toolchain.quant.choose import choose
from toolchain.quant.layers import refine_layers
from toolchain.quant.mixed import mix
from toolchain.quant.prune import Pruned, prune
from toolchain.quant.quantize import Quantized, free_tensors, quantize
from toolchain.quant.refine import Refined, Wanted, split
from toolchain.quant.sensitivity import Plain
from toolchain.rows import flattened

STORED_SAMPLES = 16
CHECKED_SAMPLES = 2
"""Samples of the check for Renode, whose right outputs are computed at conversion."""


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
    memories = memories_for(board, options)
    with written_aside(directory, force=options.force) as aside:
        job = opened(model_path, calib, board, memories, options)
        chosen, quantized = quantise(
            job.graph, job.model, job.samples, job.rounding, options, progress
        )
        planned = Planner(job, chosen, quantized, options).at(options.ram)
        require_fit(planned.arranged, board, options.stack_bytes, memories, options.keep_inputs)
        if options.gates is not None:
            samples = require_data(job.samples, "gates need")
            whole = flattened(planned.arranged.graph)
            _require(job.model, whole, samples, options.gates, progress)
        write_project(aside, job, planned, options)
    return Project(directory)


@dataclass(frozen=True, slots=True)
class Job:
    """What is converted, and what for.

    Args:
        path: ONNX file.
        model: Its contents.
        imported: The same as a graph, with its inputs.
        graph: The float graph after the passes.
        samples: Calibration data, if there are any.
        board: The board.
        memories: Where things go, as far as the user says.
        chosen: How integers are requantised, and why.
    """

    path: Path
    model: ModelProto
    imported: Imported
    graph: Graph
    samples: Samples | None
    board: Board
    memories: Memories
    chosen: Chosen

    @property
    def rounding(self) -> Rounding:
        """How integers are requantised."""
        return self.chosen.rounding

    def target(self, options: ConvertOptions) -> Target:
        """What kernels are chosen for."""
        return Target(self.board.isa, options.family)


@dataclass(frozen=True, slots=True)
class Integers:
    """A quantised graph with its kernels and its memory."""

    arranged: Arranged
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    chosen: Refined


def memories_for(board: Board, options: ConvertOptions) -> Memories:
    """Where things go, as far as the user says.

    Raises:
        InputRefused: The board has no such memory, or it is smaller.
    """
    where = options.arena_in, options.weights_in, options.hot_weights
    return memories_of(board, *where, options.stack_bytes)


def opened(
    model_path: Path,
    calib: Path | None,
    board: Board,
    memories: Memories,
    options: ConvertOptions,
) -> Job:
    """Read a model and its calibration data.

    Raises:
        InputRefused: They cannot be used.
    """
    model = load_model(model_path)
    imported = read(model, model_path.stem, options.shapes, options.outputs)
    require_single_samples(imported)
    graph = passes.run(imported.graph)
    samples = None
    if calib is not None:
        samples = load_samples(
            calib, imported.inputs, options.max_samples, pixel_scale=options.pixel_scale
        )
    chosen = rounding_for(model, options.rounding)
    return Job(model_path, model, imported, graph, samples, board, memories, chosen)


def require_data(samples: Samples | None, what: str) -> Samples:
    """The calibration data; refuse to go on without.

    Raises:
        InputRefused: There are none.
    """
    if samples is None:
        raise InputRefused("convert", "", f"{what} calibration data", "give --calib")
    return samples


def write_project(
    aside: Path,
    job: Job,
    planned: Integers,
    options: ConvertOptions,
    notes: Sequence[str] = (),
) -> None:
    """Write all files of a project.

    Args:
        aside: Its folder.
        job: What is converted.
        planned: The integer graph with kernels and memory.
        options: The user's choices.
        notes: More sentences for the manifest.
    """
    board, samples, arranged = job.board, job.samples, planned.arranged
    target, prefix = job.target(options), identifier(options.prefix or job.path.stem)
    memories = job.memories.beside(arranged.plan, board.ram.name)
    code = write_code(arranged.graph, arranged.choices, arranged.plan, target, prefix, memories)
    source = Source(
        job.path.name,
        sha256(job.path.read_bytes()).hexdigest(),
        tool_version(),
        board,
        options.family,
        options.method,
        0 if samples is None else len(samples),
        options.stack_bytes,
        options.shapes,
        options.pixel_scale,
        (
            *job.imported.notes,
            *_notes_on(options, code.prefix),
            *job.chosen.notes,
            *(samples.warnings if samples else ()),
            *planned.notes,
            *_notes_on_memories(code, memories),
            *notes,
        ),
        planned.warnings,
        job.rounding,
        planned.chosen.methods,
        planned.chosen.gains,
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
    checked = [checked_sample(code.graph, sample) for sample in first[:CHECKED_SAMPLES]]
    write_renode(aside, code.prefix, board, checked)
    write_records(aside, job.model, code.graph, manifest_of(code, source), first)


def _notes_on(options: ConvertOptions, prefix: str) -> Iterator[str]:
    """What became of choices that could not be taken as they are."""
    if options.family is Family.CMSIS_NN and options.cmsis_nn_dir is None:
        yield "no copy of CMSIS-NN was named: its functions are linked in their portable form"
    if options.prefix and options.prefix != prefix:
        yield f"the prefix of files and symbols is {prefix}"


def _notes_on_memories(code: ModelCode, memories: Memories) -> Iterator[str]:
    """Where arena and weights are, when the user chose."""
    if code.plan.parts:
        parts = (f"{part.nbytes:,} bytes in {part.memory}" for part in code.plan.parts)
        yield f"arena: {', '.join(parts)}"
    if code.weights_memory:
        yield f"weights: {code.constant_bytes - code.hot_bytes:,} bytes in {code.weights_memory}"
    if memories.hot is not None and not code.hot:
        yield f"no weights are copied: none fit into {memories.hot.nbytes:,} bytes"
    if code.hot:
        share = sum(code.reads[name] for name in code.hot) / max(sum(code.reads.values()), 1)
        yield (
            f"copied to {code.hot_memory} at start: {code.hot_bytes:,} bytes of weights, "
            f"about {share:.0%} of their reads"
        )


def _first_codes(graph: Graph, samples: Samples | None) -> list[dict[str, Array]]:
    """Codes of the first samples; random ones, always the same, when there are none."""
    if samples is not None:
        return [input_codes(graph, s) for _, s in zip(range(STORED_SAMPLES), samples, strict=False)]
    rng = np.random.default_rng(0)
    return [
        {x: _random_codes(graph.types[x], rng) for x in graph.inputs} for _ in range(STORED_SAMPLES)
    ]


def _random_codes(kind: TensorType, rng: np.random.Generator) -> Array:
    low, high = kind.dtype.limits
    return rng.integers(low, high + 1, kind.shape, kind.dtype.value)


def _require_pure(graph: Graph) -> None:
    """Refuse what a model states as int16 codes."""
    names = layer_names(graph.ops)
    for name, kind in graph.types.items():
        if kind.quant is not None and kind.quant.dtype is DType.INT16:
            raise InputRefused(
                "convert",
                names.get(name, name),
                "the model states int16 codes here",
                "convert it without --pure-int8",
            )


def quantise(
    graph: Graph,
    model: ModelProto,
    samples: Samples | None,
    rounding: Rounding,
    options: ConvertOptions,
    progress: Progress,
) -> tuple[Refined, Quantized]:
    """Calibrate where the model states no scales, and turn a float graph into integers.

    Args:
        graph: The float graph after the passes.
        model: The original model.
        samples: Calibration data.
        rounding: How integers are requantised.
        options: How ranges and weights are chosen.
        progress: Told about the calibration.

    Returns:
        What was chosen, and the integer graph.

    Raises:
        InputRefused: The data are none to calibrate with, or are missing.
    """
    named = tuple(pattern for pattern in options.int16 if pattern != AUTO)
    wide = layers_named(graph, named, "convert")
    if options.pure_int8:
        _require_pure(graph)
    chosen = Refined(graph, {}, {})
    if samples is not None and free_tensors(graph):
        wanted = Wanted(options.method, options.percentile, options.refine_weights, rounding)
        chosen = choose(graph, model, samples, wanted, progress)
    if AUTO in options.int16:
        plain = Plain(chosen.unrefined, chosen.ranges, chosen.seen, rounding)
        found, note = choose_wide(plain, samples, options.gates, progress)
        chosen = replace(chosen, remarks=(*chosen.remarks, note))
        wide |= found
    source = chosen.unrefined if wide else chosen.graph
    mixed = mix(source, wide, chosen.ranges, chosen.seen)
    quantized = quantize(mixed.graph, mixed.ranges, rounding)
    if wide and samples is not None and chosen.recipe is not None:
        # what other layers make of their int8 codes has changed
        fit, _ = split(source, samples, len(samples))
        again = refine_layers(mixed.graph, quantized.graph, fit, chosen.recipe)
        quantized = quantize(again, mixed.ranges, rounding)
    return chosen, replace(quantized, warnings=(*quantized.warnings, *mixed.notes))


class Planner:
    """Kernels, order and memory of one integer graph.

    Args:
        job: What is converted.
        chosen: How it was quantised.
        quantized: The integer graph.
        options: What is planned for, but for the size of the arena.
    """

    def __init__(
        self, job: Job, chosen: Refined, quantized: Quantized, options: ConvertOptions
    ) -> None:
        self._job, self._options, self._chosen = job, options, chosen
        self._pruned = prune(quantized.graph) if options.prune else Pruned(quantized.graph, ())
        self._warnings = (*chosen.warnings, *quantized.warnings)
        self.graph = verify(self._pruned.graph, Stage.QUANTIZED)
        self._plans = Plans(self.graph, job.target(options), options.wish)

    @property
    def prunes(self) -> bool:
        """Dead channels were removed."""
        return bool(self._pruned.dropped)

    def arena(self, ram: Ram | int) -> int:
        """Bytes of the arena for a size, in one piece."""
        return self._plans.at(ram).plan.arena_bytes

    def at(self, ram: Ram | int) -> Integers:
        """The plan for a size.

        Args:
            ram: What the memory is planned for.

        Raises:
            InputRefused: No plan is small enough.
        """
        job, options, target = self._job, self._options, self._job.target(self._options)
        rooms = job.memories
        planned = divided(self._plans.at(ram), rooms, target.alignment, options.keep_inputs)
        check_planned(planned, target, rooms.arena)
        notes = (
            *self._chosen.notes,
            *(f"{name}: {lost} dead channels removed" for name, lost in self._pruned.dropped),
            *rows_notes(planned, self.graph, target, options.optimize),
        )
        return Integers(planned, notes, self._warnings, self._chosen)


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
