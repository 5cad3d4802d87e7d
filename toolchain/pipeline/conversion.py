"""From a model file to a project folder."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from onnx import ModelProto

from toolchain import passes
from toolchain.board import load_board
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
from toolchain.frontend.read import read
from toolchain.frontend.rounding import rounding_for
from toolchain.frontend.samples import Samples, load_samples
from toolchain.ir import Array, DType, Family, Graph, Rounding, Stage, Target, TensorType, verify
from toolchain.options import ConvertOptions, Progress, silent
from toolchain.pipeline.precision import AUTO, choose_wide
from toolchain.pipeline.samples import checked_sample, require_single_samples
from toolchain.plan import (
    Arranged,
    Memories,
    check_planned,
    divided,
    memories_of,
    plan_for,
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
    where = options.arena_in, options.weights_in, options.hot_weights
    memories = memories_of(board, *where, options.stack_bytes)
    with written_aside(directory, force=options.force) as aside:
        model = load_model(model_path)
        imported = read(model, model_path.stem, options.shapes, options.outputs)
        require_single_samples(imported)
        graph = passes.run(imported.graph)
        samples = None
        if calib is not None:
            samples = load_samples(
                calib, imported.inputs, options.max_samples, pixel_scale=options.pixel_scale
            )
        target = Target(board.isa, options.family)
        chosen = rounding_for(model, options.rounding)
        planned = _integers(
            graph, model, samples, chosen.rounding, target, options, memories, progress
        )
        arranged, keep = planned.arranged, options.keep_inputs
        require_fit(arranged, board, options.stack_bytes, memories, keep)
        if options.gates is not None:
            if samples is None:
                raise InputRefused("convert", "", "gates need calibration data", "give --calib")
            whole = flattened(arranged.graph)
            _require(model, whole, samples, options.gates, progress)
        prefix = identifier(options.prefix or model_path.stem)
        memories = memories.beside(arranged.plan, board.ram.name)
        code = write_code(arranged.graph, arranged.choices, arranged.plan, target, prefix, memories)
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
            (
                *imported.notes,
                *_notes_on(options, code.prefix),
                *chosen.notes,
                *(samples.warnings if samples else ()),
                *planned.notes,
                *_notes_on_memories(code, memories),
            ),
            planned.warnings,
            chosen.rounding,
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
        write_records(aside, model, code.graph, manifest_of(code, source), first)
    return Project(directory)


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


@dataclass(frozen=True, slots=True)
class _Planned:
    """A quantised graph with its kernels and its memory."""

    arranged: Arranged
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    chosen: Refined


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


def _integers(
    graph: Graph,
    model: ModelProto,
    samples: Samples | None,
    rounding: Rounding,
    target: Target,
    options: ConvertOptions,
    memories: Memories,
    progress: Progress,
) -> _Planned:
    """Calibrate, quantise, prune, select kernels, schedule, plan memory."""
    chosen, quantized = quantise(graph, model, samples, rounding, options, progress)
    pruned = prune(quantized.graph) if options.prune else Pruned(quantized.graph, ())
    notes = [
        *chosen.notes,
        *(f"{name}: {lost} dead channels removed" for name, lost in pruned.dropped),
    ]
    graph = verify(pruned.graph, Stage.QUANTIZED)
    planned = plan_for(graph, target, options.wish)
    planned = divided(planned, memories, target.alignment, options.keep_inputs)
    check_planned(planned, target, memories.arena)
    notes += rows_notes(planned, graph, target, options.optimize)
    warnings = (*chosen.warnings, *quantized.warnings)
    return _Planned(planned, tuple(notes), warnings, chosen)


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
