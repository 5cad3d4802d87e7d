"""Layers that get int16 codes by themselves, as many as the gates need, and what judges that."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from onnx import ModelProto

from toolchain.check.compare import Gates, judge
from toolchain.check.evaluate import evaluate
from toolchain.errors import InputRefused
from toolchain.frontend.samples import Samples
from toolchain.ir import DType, Graph
from toolchain.options import Progress
from toolchain.project import layer_names
from toolchain.quant.mixture import Mixture
from toolchain.quant.refine import LEAST_SAMPLES, split
from toolchain.quant.sensitivity import Outputs, widen
from toolchain.quant.trial import float_values, integer_outputs

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
        return result.layers, f"int16 auto: no {'further ' if mixture.wide else ''}layer needs it"
    if result.enough:
        return result.layers, f"int16 auto: {', '.join(chosen)}"
    note = f"int16 auto: all {len(chosen)} layers, which is not enough"
    if not aim.here:
        note += f": on held-back samples {good.missed}"
    better = "" if mixture.recipe else ", --weights auto chooses them better"
    return result.layers, f"{note} (weights stay int8{better})"


def int16_note(
    mixture: Mixture,
    named: Collection[str],
    found_auto: str,
    samples: Samples | None,
    found: Graph,
) -> str:
    """Layers with int16 codes by name, those found, and what they gain on held-back samples.

    Args:
        mixture: The model.
        named: Tensors that the layers write which the user named.
        found_auto: The sentence of `choose_wide`; "" where it was not asked.
        samples: Calibration samples; None: there are none.
        found: Its integer graph as it goes on.
    """
    names = layer_names(mixture.graph.ops)
    wide = {y for y, kind in found.types.items() if kind.dtype is DType.INT16}
    layers = [names[op.y] for op in mixture.graph.ops if op.y in wide.intersection(named, names)]
    parts = [f"int16 codes: {', '.join(layers)}"] if layers else []
    parts += [found_auto] if found_auto else []
    if not parts:
        return ""
    plain = replace(mixture, wide=frozenset()) if mixture.wide else None
    return "; ".join(parts) + effect(mixture, samples, found, plain, "int8 codes")


def effect(
    mixture: Mixture, samples: Samples | None, found: Graph, plain: Mixture | None, what: str
) -> str:
    """What held-back samples reach, and what they reach otherwise; "" where none say so.

    Args:
        mixture: The model.
        samples: Calibration samples; None: there are none.
        found: Its integer graph.
        plain: The model without what is told of; None: it is as it would be without.
        what: What that has.
    """
    if samples is None or samples.codes:
        return ""
    _, held = split(mixture.graph, samples, len(samples))
    expected = float_values(mixture.graph, held, mixture.graph.outputs)
    told = f"; on held-back samples {_told(expected, integer_outputs(found, held))}"
    if plain is not None:
        told += f", with {what} {_told(expected, plain.outputs(held))}"
    return told


def _told(expected: Outputs, found: Outputs) -> str:
    verdict = judge(expected, found)
    same = "" if verdict.agreement is None else f", agreement {verdict.agreement:.2%}"
    return f"SQNR {verdict.sqnr_db:.1f} dB{same}"
