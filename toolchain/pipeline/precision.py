"""Layers that get int16 codes by themselves: as many as the gates need."""

from dataclasses import dataclass

from onnx import ModelProto

from toolchain.check.compare import Gates, judge
from toolchain.check.evaluate import evaluate
from toolchain.errors import InputRefused
from toolchain.frontend.samples import Samples
from toolchain.ir import Graph
from toolchain.options import Progress
from toolchain.project import layer_names
from toolchain.quant.refine import LEAST_SAMPLES, split
from toolchain.quant.sensitivity import Outputs, Plain, widen

AUTO = "auto"
"""In place of names of layers."""

GOAL = Gates(min_agreement=0.99)
"""Without gates, where the outputs name a class."""
GOAL_OF_VALUES = Gates(min_sqnr=40.0)
"""Without gates, where they name none."""
MARGIN_DB = 1.0
"""By so much the SQNR of other samples may be lower."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What the layers with int16 codes are for.

    Args:
        gates: What the outputs have to reach; None: GOAL.
        here: The gates are asked of all calibration samples; else of data that choose nothing.
    """

    gates: Gates | None
    here: bool = False

    @property
    def held(self) -> Gates | None:
        """What held-back samples have to reach; None: GOAL.

        A drop of accuracy that is allowed counts as that many samples of another class. For data
        that are not known here there is a margin: MARGIN_DB, and half of the other classes.
        """
        gates = self.gates
        if gates is None or gates == Gates():
            return None
        least = gates.min_agreement
        if gates.max_drop is not None:
            least = max(1.0 - gates.max_drop, least or 0.0)
        if self.here:
            return Gates(least, gates.min_sqnr)
        sqnr = None if gates.min_sqnr is None else gates.min_sqnr + MARGIN_DB
        return Gates(None if least is None else (1.0 + least) / 2, sqnr)


def choose_wide(
    plain: Plain, model: ModelProto, samples: Samples | None, aim: Aim, progress: Progress
) -> tuple[frozenset[str], str]:
    """The layers that need int16 codes, by their output tensors, and a sentence about them.

    They are chosen on held-back calibration samples. Where the gates are asked of the calibration
    samples, more layers follow until they hold there.

    Args:
        plain: The model with int8 codes.
        model: The original model.
        samples: Calibration samples, real values.
        aim: What the layers are for.
        progress: Told about the integer models judged.

    Raises:
        InputRefused: There are no such samples, or too few.
    """
    if samples is None or samples.codes or len(samples) < LEAST_SAMPLES:
        reason = f"to choose layers takes {LEAST_SAMPLES} calibration samples of real values"
        raise InputRefused("convert", "--int16 auto", reason, "name layers, or give more data")
    known = samples
    _, held = split(plain.graph, known, len(known))
    goal, last = aim.held, ""

    def good(expected: Outputs, found: Outputs) -> bool:
        nonlocal last
        verdict = judge(expected, found, gates=goal or GOAL_OF_VALUES)
        if goal is None and verdict.agreement is not None:
            verdict = judge(expected, found, gates=GOAL)
        last = "; ".join(verdict.reasons)
        return verdict.passed

    def holds(graph: Graph) -> bool:
        found = evaluate(
            model,
            graph,
            known,
            gates=aim.gates,
            progress=lambda done, total: progress("check gates", done, total),
        )
        return found.comparison.passed

    result = widen(
        plain,
        held,
        good,
        holds if aim.here else None,
        lambda done, total: progress("sensitivity", done, total),
    )
    names = layer_names(plain.graph.ops)
    chosen = [names[y] for y, _ in result.order if y in result.layers]
    if not chosen:
        return result.layers, "int16 auto: no layer needs it"
    if result.enough:
        return result.layers, f"int16 auto: {', '.join(chosen)}"
    note = f"int16 auto: all {len(chosen)} layers, which is not enough"
    if not aim.here:
        note += f": on held-back samples {last}"
    better = "" if plain.recipe else ", --weights auto chooses them better"
    return result.layers, f"{note} (weights stay int8{better})"
