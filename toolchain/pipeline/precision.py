"""Layers that get int16 codes by themselves: as many as the gates need."""

from toolchain.check.compare import Gates, judge
from toolchain.errors import InputRefused
from toolchain.frontend.samples import Samples
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


def choose_wide(
    plain: Plain, samples: Samples | None, gates: Gates | None, progress: Progress
) -> tuple[frozenset[str], str]:
    """The layers that need int16 codes, by their output tensors, and a sentence about them.

    The gates are asked on held-back calibration samples; a drop of accuracy that is allowed counts
    as that many samples of another class.

    Args:
        plain: The model with int8 codes.
        samples: Calibration samples, real values.
        gates: What the outputs have to reach; None: GOAL.
        progress: Told about the integer models judged.

    Raises:
        InputRefused: There are no such samples, or too few.
    """
    if samples is None or samples.codes or len(samples) < LEAST_SAMPLES:
        reason = f"to choose layers takes {LEAST_SAMPLES} calibration samples of real values"
        raise InputRefused("convert", "--int16 auto", reason, "name layers, or give more data")
    _, held = split(plain.graph, samples, len(samples))
    goal = _goal(gates)

    def good(expected: Outputs, found: Outputs) -> bool:
        verdict = judge(expected, found, gates=goal or GOAL_OF_VALUES)
        if goal is None and verdict.agreement is not None:
            verdict = judge(expected, found, gates=GOAL)
        return verdict.passed

    result = widen(plain, held, good, lambda done, total: progress("sensitivity", done, total))
    names = layer_names(plain.graph.ops)
    chosen = [names[y] for y, _ in result.order if y in result.layers]
    if not chosen:
        return result.layers, "int16 auto: no layer needs it"
    note = f"int16 auto: {', '.join(chosen)}"
    return result.layers, note if result.enough else f"{note}; this is not enough for the gates"


def _goal(gates: Gates | None) -> Gates | None:
    if gates is None or gates == Gates():
        return None
    if gates.max_drop is None:
        return gates
    least = max(1.0 - gates.max_drop, gates.min_agreement or 0.0)
    return Gates(min_agreement=least, min_sqnr=gates.min_sqnr)
