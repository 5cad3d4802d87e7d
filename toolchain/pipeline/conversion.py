"""From a model file to a project folder."""

from dataclasses import replace
from pathlib import Path

from onnx import ModelProto

from toolchain.board import load_board
from toolchain.check.compare import Gates, require_judgeable
from toolchain.check.evaluate import evaluate
from toolchain.errors import GateFailed, InputRefused
from toolchain.frontend.samples import Samples
from toolchain.ir import DType, Graph, Rounding, Stage, verify
from toolchain.options import ConvertOptions, Progress, silent
from toolchain.pipeline.int4 import choose_int4, int4_named, int4_note, refuse_both
from toolchain.pipeline.job import Job, memories_for, opened, require_data
from toolchain.pipeline.precision import AUTO, Aim, Meeting, asked_here, choose_wide, int16_note
from toolchain.pipeline.writing import Integers, write_project
from toolchain.plan import Plans, Ram, check_planned, divided, require_fit, rows_notes
from toolchain.project import Project, layer_names, layers_named, written_aside
from toolchain.quant.choose import choose, idle_choices
from toolchain.quant.mixture import Mixture
from toolchain.quant.prune import Pruned, prune
from toolchain.quant.quantize import Quantized, free_tensors
from toolchain.quant.refine import Refined, Wanted, split
from toolchain.rows import flattened
from toolchain.threads import one_thread


@one_thread
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
        if options.gates is not None:
            known = require_data(job.samples, "gates need")
            require_judgeable(options.gates, known.labels, job.graph.output_shapes)
        chosen, quantized = quantise(
            job.graph, job.model, job.samples, job.rounding, options, progress
        )
        planner = Planner(job, chosen, quantized, options)
        planned = planner.at(options.ram)
        require_fit(
            planned.arranged,
            board,
            options.stack_bytes,
            memories,
            options.keep_inputs,
            options.wish,
            planner.smallest,
        )
        if options.gates is not None:
            whole = flattened(planned.arranged.graph)
            _require(job.model, whole, known, options.gates, chosen.remarks, progress)
        write_project(aside, job, planned, options)
    return Project(directory)


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
    wide = layers_named(graph, _named(options.int16), "convert")
    few = int4_named(graph, _named(options.int4))
    refuse_both(graph, wide, few)
    if options.pure_int8:
        _require_pure(graph)
    chosen = Refined(graph, {}, {})
    if samples is not None and free_tensors(graph):
        wanted = Wanted(options.method, options.percentile, options.refine_weights, rounding)
        chosen = choose(graph, model, samples, wanted, progress)
    here = options.gates is not None
    served = here or options.goal is not None or options.int16 or options.int4
    idle = idle_choices(
        graph,
        options.method,
        weights=options.refine_weights,
        data=samples is not None and not served,
    )
    mixture = Mixture(
        chosen.unrefined,
        chosen.ranges,
        chosen.seen,
        rounding,
        chosen.graph,
        chosen.recipe,
        wide=wide,
        few=few,
    )
    if samples is not None and (options.int16 or options.int4):
        mixture = replace(mixture, fit=split(mixture.graph, samples, len(samples))[0])
    remarks, found_auto = [*idle], ""
    aim = Aim(options.gates if here else options.goal, here)
    if AUTO in options.int16:
        found, found_auto = choose_wide(mixture, model, samples, aim, progress)
        mixture = mixture.also(wide=found)
    if AUTO in options.int4:
        holds = asked_here(model, samples, aim, progress)
        found, note = choose_int4(mixture, samples, Meeting(aim.held), holds, progress)
        mixture = mixture.also(few=found)
        remarks.append(note)
    quantized = mixture.quantized()
    if mixture.few or options.int16:
        left = prune(quantized.graph).graph if options.prune else quantized.graph
        remarks.append(int16_note(mixture, wide, found_auto, samples, left))
        remarks += [int4_note(mixture, samples, left)] if mixture.few else []
    return replace(chosen, remarks=(*chosen.remarks, *filter(None, remarks))), quantized


def _named(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(pattern for pattern in patterns if pattern != AUTO)


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
        self._smallest: dict[bool, int | None] = {}

    @property
    def prunes(self) -> bool:
        """Dead channels were removed."""
        return bool(self._pruned.dropped)

    def arena(self, ram: Ram | int) -> int:
        """Bytes of the arena for a size, in one piece."""
        return self._plans.at(ram).plan.arena_bytes

    def smallest(self, by_rows: bool) -> int | None:
        """Bytes of the smallest arena.

        Args:
            by_rows: The input comes row by row; None where it cannot.
        """
        if by_rows not in self._smallest:
            self._smallest[by_rows] = self._searched(by_rows)
        return self._smallest[by_rows]

    def _searched(self, by_rows: bool) -> int | None:
        wish, plans = self._options.wish, self._plans
        if by_rows != wish.by_rows:
            target = self._job.target(self._options)
            plans = Plans(self.graph, target, replace(wish, by_rows=by_rows))
        try:
            return plans.at(Ram.MIN).plan.arena_bytes
        except InputRefused:
            return None

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
    model: ModelProto,
    graph: Graph,
    samples: Samples,
    gates: Gates,
    remarks: tuple[str, ...],
    progress: Progress,
) -> None:
    verdict = evaluate(
        model,
        graph,
        samples,
        gates=gates,
        progress=lambda done, total: progress("check gates", done, total),
    ).comparison
    if not verdict.passed:
        told = "; ".join((*remarks, "nothing was written"))
        raise GateFailed("convert", "", "; ".join(verdict.reasons), told)
