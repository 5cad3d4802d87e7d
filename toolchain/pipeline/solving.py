"""A conversion within constraints: candidates are planned, built and run until one is taken."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from toolchain.board import load_board
from toolchain.check.compare import Comparison, Gates, require_judgeable
from toolchain.check.evaluate import evaluate
from toolchain.errors import InputRefused
from toolchain.frontend.samples import Samples, load_samples
from toolchain.ir import DType
from toolchain.ops.int4 import Int4Layer
from toolchain.options import ConvertOptions, Progress, silent
from toolchain.pipeline.conversion import Planner, quantise
from toolchain.pipeline.costs import Meter
from toolchain.pipeline.job import Job, memories_for, opened, require_data
from toolchain.pipeline.writing import Integers, write_project
from toolchain.plan import Ram, require_fit
from toolchain.project import Project, written_aside
from toolchain.quant.choose import choosable
from toolchain.quant.quantize import Quantized
from toolchain.quant.refine import Refined
from toolchain.rows import flattened
from toolchain.run import Kind
from toolchain.select import Optimize
from toolchain.solve import Candidate, Costs, Limits, Outcome, Search
from toolchain.threads import one_thread

_NO_GATE = Gates(min_sqnr=-inf)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Judged:
    """What the accuracy is measured with.

    Args:
        gates: What to require; None for nothing.
        data: Samples; None takes the calibration data.
        max_samples: Use at most so many of `data`.
    """

    gates: Gates | None = None
    data: Path | None = None
    max_samples: int | None = None


@one_thread
def convert_within(
    model_path: Path,
    calib: Path | None,
    board_name: str,
    directory: Path,
    limits: Limits,
    options: ConvertOptions | None = None,
    judged: Judged | None = None,
    emulator: Kind = "auto",
    progress: Progress = silent,
    *,
    complete: bool = False,
) -> tuple[Project, Outcome]:
    """Convert a model in the cheapest way that keeps every constraint.

    Args:
        model_path: ONNX file.
        calib: Calibration data; None for a quantised model.
        board_name: Name of a board, or a board file.
        directory: Output folder; written when a candidate was found.
        limits: What the firmware may cost.
        options: Choices of the conversion: what differs from the defaults stays as it is, the rest
            of quantisation, kernels and memory is searched.
        judged: What the accuracy has to be; its gates take the place of those of the options.
        emulator: Who counts instructions; without one they are predicted.
        progress: Told about long work.
        complete: Look at every candidate, for a picture of the trade-off.

    Returns:
        The project, and all candidates.

    Raises:
        InputRefused: The input cannot be used, or a limit cannot be judged here.
        Infeasible: No candidate keeps every constraint; nothing was written.
    """
    options, judged = replace(options or ConvertOptions(), gates=None), judged or Judged()
    board = load_board(board_name)
    memories = memories_for(board, options)
    meter = Meter(board, limits, emulator)
    with (
        written_aside(directory, force=options.force) as aside,
        tempfile.TemporaryDirectory(prefix="onnx2mcu-") as scratch,
    ):
        job = opened(model_path, calib, board, memories, options)
        samples, gates = _samples(job, options, judged), judged.gates
        if samples is not None:
            require_judgeable(gates, samples.labels, job.graph.output_shapes)
        bench = _Bench(
            job, samples, gates, meter, Path(scratch), progress, elsewhere=judged.data is not None
        )
        measured = gates is not None or (complete and samples is not None)
        search = Search(bench, options, limits, judged=measured, complete=complete)
        outcome = search.run()
        taken = outcome.taken.candidate
        write_project(aside, job, bench.planned(taken), taken.options, [outcome.note])
    return Project(directory), outcome


def _samples(job: Job, options: ConvertOptions, judged: Judged) -> Samples | None:
    """What the accuracy is measured with."""
    if judged.data is None:
        if judged.gates is not None:
            require_data(job.samples, "gates need")
        return job.samples
    specs, scale = job.imported.inputs, options.pixel_scale
    return load_samples(judged.data, specs, judged.max_samples, "compare", pixel_scale=scale)


class _Bench:
    """Candidates of one model; nothing is computed twice."""

    def __init__(
        self,
        job: Job,
        samples: Samples | None,
        asked: Gates | None,
        meter: Meter,
        scratch: Path,
        progress: Progress,
        *,
        elsewhere: bool,
    ) -> None:
        self._job, self._samples, self._asked = job, samples, asked
        self._elsewhere = elsewhere
        self._meter, self._scratch, self._progress = meter, scratch, progress
        self._known: dict[tuple[Any, ...], Any] = {}

    def _once(self, what: str, key: tuple[Any, ...], compute: Callable[[], Answer]) -> Answer:
        if (what, *key) not in self._known:
            self._known[what, *key] = compute()
        found: Answer = self._known[what, *key]
        return found

    def free(self) -> bool:
        samples = self._job.samples
        return samples is not None and choosable(self._job.graph, samples)

    def codes(self, candidate: Candidate) -> str:
        graph = self._planner(candidate).graph
        names = (*graph.inputs, *(y for op in graph.ops for y in op.outputs))
        kinds = {graph.types[name].dtype for name in names}
        few = ["int4"] if any(isinstance(op, Int4Layer) for op in graph.ops) else []
        return "+".join([*(kind.value for kind in DType if kind in kinds), *few])

    def accuracy(self, candidate: Candidate) -> Comparison:
        key = _quantisation(candidate)
        return self._once("accuracy", key, lambda: self._judge(candidate))

    def _judge(self, candidate: Candidate) -> Comparison:
        return evaluate(
            self._job.model,
            self._planner(candidate).graph,
            require_data(self._samples, "the accuracy needs"),
            gates=self._asked or _NO_GATE,
            progress=lambda done, total: self._progress(
                f"accuracy, {candidate.quantisation}", done, total
            ),
        ).comparison

    def prunes(self, candidate: Candidate) -> bool:
        return self._planner(candidate).prunes

    def _planner(self, candidate: Candidate) -> Planner:
        key = *_quantisation(candidate), candidate.options.prune, candidate.options.optimize
        return self._once(
            "planner",
            key,
            lambda: Planner(self._job, *self._quantised(candidate), candidate.options),
        )

    def _quantised(self, candidate: Candidate) -> tuple[Refined, Quantized]:
        job = self._job
        gates, goal = (None, self._asked) if self._elsewhere else (self._asked, None)
        options = replace(candidate.options, gates=gates, goal=goal)
        return self._once(
            "quantised",
            _quantisation(candidate),
            lambda: quantise(
                job.graph, job.model, job.samples, job.rounding, options, self._progress
            ),
        )

    def planned(self, candidate: Candidate) -> Integers:
        """The integer graph with kernels and memory."""
        return self._once(
            "planned",
            _identity(candidate),
            lambda: self._planner(candidate).at(candidate.options.ram),
        )

    def arena(self, candidate: Candidate) -> int:
        return self._planner(candidate).arena(candidate.options.ram)

    def least(self, candidate: Candidate) -> Costs:
        return self._once("least", _identity(candidate), lambda: self._fitting(candidate))

    def _fitting(self, candidate: Candidate) -> Costs:
        """Arena, stack and constants, and whether the board has room for them."""
        job, options = self._job, candidate.options
        try:
            arranged = self.planned(candidate).arranged
        except InputRefused as error:
            return Costs(None, None, unfit=error.reason, advice=error.hint)
        flash = sum(flattened(arranged.graph).stored_bytes().values())
        costs = Costs(flash, arranged.plan.arena_bytes + options.stack_bytes)
        try:
            require_fit(
                arranged,
                job.board,
                options.stack_bytes,
                job.memories,
                options.keep_inputs,
                options.wish,
                self._planner(candidate).smallest,
            )
        except InputRefused as error:
            return replace(costs, unfit=error.reason, advice=error.hint)
        return costs

    def costs(self, candidate: Candidate) -> Costs:
        return self._once("costs", _identity(candidate), lambda: self._measure(candidate))

    def _measure(self, candidate: Candidate) -> Costs:
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            write_project(Path(folder), self._job, self.planned(candidate), candidate.options)
            self._progress(f"measure {candidate}", 0, 1)
            costs = self._meter.measure(Path(folder), self.least(candidate))
            self._progress(f"measure {candidate}", 1, 1)
        return costs


def _quantisation(candidate: Candidate) -> tuple[Any, ...]:
    """What decides the integers: all options but those of the plan."""
    return (repr(replace(candidate.options, prune=True, optimize=Optimize.SPEED, ram=Ram.AUTO)),)


def _identity(candidate: Candidate) -> tuple[Any, ...]:
    """What decides the firmware."""
    options = candidate.options
    return *_quantisation(candidate), options.prune, options.optimize, options.ram
