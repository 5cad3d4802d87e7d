"""Layers that get int16 codes by themselves, as many as the gates need, and what judges that."""

from collections.abc import Callable
from dataclasses import dataclass

from onnx import ModelProto

from toolchain.check.compare import Gates, judge
from toolchain.check.evaluate import evaluate
from toolchain.errors import InputRefused
from toolchain.frontend.samples import Samples
from toolchain.ir import Graph
from toolchain.options import Progress
from toolchain.project import layer_names
from toolchain.quant.mixture import Mixture
from toolchain.quant.refine import LEAST_SAMPLES, split
from toolchain.quant.sensitivity import Outputs, widen

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


Good = Callable[[Outputs, Outputs], bool]
"""Whether outputs, beside those of the float graph, are good enough."""


class Meeting:
    """Whether outputs meet gates; without any, GOAL or GOAL_OF_VALUES.

    Args:
        gates: The gates.
    """

    def __init__(self, gates: Gates | None) -> None:
        self.gates = gates
        self.missed = ""
        """What the last outputs missed."""

    def __call__(self, expected: Outputs, found: Outputs) -> bool:
        """Judge outputs beside those of the float graph."""
        verdict = judge(expected, found, gates=self.gates or GOAL_OF_VALUES)
        if self.gates is None and verdict.agreement is not None:
            verdict = judge(expected, found, gates=GOAL)
        self.missed = "; ".join(verdict.reasons)
        return verdict.passed


def asked_here(
    model: ModelProto, samples: Samples | None, aim: Aim, progress: Progress
) -> Callable[[Graph], bool] | None:
    """Whether an integer graph keeps the gates on all samples; None: they are asked elsewhere.

    Args:
        model: The original model.
        samples: Calibration samples.
        aim: What layers are chosen for.
        progress: Told about the samples that ran.
    """
    if samples is None or not aim.here:
        return None

    def holds(graph: Graph) -> bool:
        found = evaluate(
            model,
            graph,
            samples,
            gates=aim.gates,
            progress=lambda done, total: progress("check gates", done, total),
        )
        return found.comparison.passed

    return holds


def require_choice(samples: Samples | None, asked: str) -> Samples:
    """The samples, when layers can be chosen by them.

    Args:
        samples: Calibration samples.
        asked: The option that asks for it.

    Raises:
        InputRefused: There are none of real values, or too few.
    """
    if samples is None or samples.codes or len(samples) < LEAST_SAMPLES:
        reason = f"to choose layers takes {LEAST_SAMPLES} calibration samples of real values"
        raise InputRefused("convert", asked, reason, "name layers, or give more data")
    return samples


def choose_wide(
    mixture: Mixture, model: ModelProto, samples: Samples | None, aim: Aim, progress: Progress
) -> tuple[frozenset[str], str]:
    """The layers that need int16 codes, by their output tensors, and a sentence about them.

    They are chosen on held-back calibration samples. Where the gates are asked of the calibration
    samples, more layers follow until they hold there.

    Args:
        mixture: The model; layers that have another precision keep it.
        model: The original model.
        samples: Calibration samples, real values.
        aim: What the layers are for.
        progress: Told about the integer models judged.

    Raises:
        InputRefused: There are no such samples, or too few.
    """
    known = require_choice(samples, "--int16 auto")
    _, held = split(mixture.graph, known, len(known))
    good = Meeting(aim.held)
    result = widen(
        mixture,
        held,
        good,
        asked_here(model, known, aim, progress),
        lambda done, total: progress("sensitivity", done, total),
    )
    names = layer_names(mixture.graph.ops)
    chosen = [names[y] for y, _ in result.order if y in result.layers]
    if not chosen:
        return result.layers, "int16 auto: no layer needs it"
    if result.enough:
        return result.layers, f"int16 auto: {', '.join(chosen)}"
    note = f"int16 auto: all {len(chosen)} layers, which is not enough"
    if not aim.here:
        note += f": on held-back samples {good.missed}"
    better = "" if mixture.recipe else ", --weights auto chooses them better"
    return result.layers, f"{note} (weights stay int8{better})"
