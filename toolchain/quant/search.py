"""A range for every tensor: of several candidates the one of least output error."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from toolchain.ir import Graph, Rounding
from toolchain.ops.unary import Unary, evaluate_expression
from toolchain.quant.histogram import Histogram
from toolchain.quant.quantize import free_tensors, quantize
from toolchain.quant.ranges import (
    METHODS,
    PERCENTILE,
    Function,
    Method,
    Range,
    choose_range,
    mse_range,
)
from toolchain.quant.trial import Score, Trial

_TIGHT = 99.9
_TAIL = 100  # the largest hundredth of the values
_LEAST_TAIL = 5
_MOST_STEPS = 3.0
_ALIKE = 1.02
"""Ranges whose widths differ by less are not worth a trial."""
_WAYS = ("minmax", "mse", "percentile", "tight percentile", "entropy")

_CERTAINTY = 2.5
"""Dozens of candidates: some look better by chance."""

Candidates = Mapping[str, Mapping[str, Range]]
"""For each tensor ranges by the name of the method that gives them."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Ranges, the methods they come from, and how good they are."""

    ranges: Mapping[str, Range]
    methods: Mapping[str, str]
    score: Score


def function_behind(graph: Graph, name: str) -> Function | None:
    """The function of every element that is all a tensor is read for; None: something else is."""
    readers = graph.consumers().get(name, ())
    if name in graph.outputs or len(readers) != 1 or not isinstance(readers[0], Unary):
        return None
    expression = readers[0].expression
    return lambda x: np.asarray(np.broadcast_to(evaluate_expression(expression, x), x.shape))


def candidate(
    seen: Histogram,
    method: str,
    percentile: float = PERCENTILE,
    function: Function | None = None,
) -> Range:
    """The range one way of choosing gives; beside the methods of choose_range three variants.

    - "tight percentile": as "percentile", of 99.9 % or less.
    - "margin": minmax and what new samples go beyond it (see _with_margin).
    - "function": "mse" of what the function behind the tensor gives.
    """
    if method == "function":
        return mse_range(seen, function)
    if method == "tight percentile":
        return choose_range(seen, "percentile", min(percentile, _TIGHT))
    if method == "margin":
        return _with_margin(seen)
    known: dict[str, Method] = {name: name for name in METHODS}
    return choose_range(seen, known[method], percentile)


def _with_margin(seen: Histogram) -> Range:
    """Ends moved out so far that the expected squared error of new values is least.

    Tails are taken as exponential: of n new values one exceeds the largest of n known ones, by the
    mean excess s of the largest hundredth. Moved by k * s, clipping costs 2 s^2 exp(-k) / n and
    rounding a twelfth of the squared step, so k = ln(12 * 255^2 s / (n * width)) where that is
    positive.
    """
    span = choose_range(seen, "minmax")
    width, total = span.high - span.low, seen.total
    middles = (np.arange(seen.counts.size) + seen.first + 0.5) * seen.width
    ends = []
    for sign, end in ((-1, span.low), (1, span.high)):
        order = np.argsort(-sign * middles)
        mass = np.cumsum(seen.counts[order])
        wanted = max(mass[-1] // _TAIL, _LEAST_TAIL)
        tail = order[: int(np.searchsorted(mass, wanted)) + 1]
        values = seen.counts[tail].sum()
        mean = float(seen.counts[tail] @ middles[tail]) / max(int(values), 1)
        excess = min(abs(mean - middles[tail[-1]]), abs(end))
        steps = np.log(max(12 * 255**2 * excess / (max(total, 1) * width), 1.0))
        ends.append(float(end + sign * excess * min(float(steps), _MOST_STEPS)))
    return Range(ends[0], ends[1])


def candidates(
    graph: Graph, histograms: Mapping[str, Histogram], percentile: float = PERCENTILE
) -> Candidates:
    """What each way gives for each tensor that needs a range; of ranges as wide only the first.

    Inputs and outputs have a margin first: what they cut off is lost for good.

    Args:
        graph: Float graph.
        histograms: Of those tensors, by their own names.
        percentile: Share of values the method of that name keeps, in percent.
    """
    found: dict[str, dict[str, Range]] = {}
    ends = {*graph.inputs, *graph.outputs}
    for name in free_tensors(graph):
        distinct: dict[str, Range] = {}
        function = function_behind(graph, name)
        ways = ("margin", *_WAYS) if name in ends else _WAYS
        for method in ways if function is None else (*ways, "function"):
            span = candidate(histograms[name], method, percentile, function)
            if all(_unlike(span, other) > _ALIKE for other in distinct.values()):
                distinct[method] = span
        found[name] = distinct
    return found


def _unlike(one: Range, other: Range) -> float:
    """Ratio of the widths, at least 1."""
    ratio = (one.high - one.low) / (other.high - other.low)
    return max(ratio, 1 / ratio)


def choose_ranges(
    graph: Graph, choices: Candidates, trial: Trial, budget: int, rounding: Rounding
) -> Chosen:
    """Search ranges of least error on the trial's samples.

    1. The first candidate of every tensor, minmax or a margin; or one method for all that have no
       margin.
    2. Tensor after tensor in order of execution, every other candidate in its place; the best is
       kept. When there are more candidates than `budget`, those go first whose range differs most
       from the one in place.

    Args:
        graph: Float graph.
        choices: Candidates of every tensor.
        trial: Judges.
        budget: Number of graphs that may be judged.
        rounding: How the integer model requantises.
    """
    first = {name: next(iter(ranges)) for name, ranges in choices.items()}
    best = _judge(graph, choices, first, trial, rounding)
    trial.keep()
    for method in _WAYS[1:]:
        changed = {
            n: method if method in ranges and first[n] != "margin" else first[n]
            for n, ranges in choices.items()
        }
        if changed != first:
            best = _better(best, _judge(graph, choices, changed, trial, rounding), trial)
    allowed = set(_most_different(choices, best, budget - len(_WAYS)))
    for name, ranges in choices.items():
        for method in ranges:
            if (name, method) in allowed and method != best.methods[name]:
                changed = {**best.methods, name: method}
                best = _better(best, _judge(graph, choices, changed, trial, rounding), trial)
    return best


def _better(best: Chosen, found: Chosen, trial: Trial) -> Chosen:
    if not found.score.better_than(best.score, _CERTAINTY):
        return best
    trial.keep()
    return found


def _judge(
    graph: Graph, choices: Candidates, methods: Mapping[str, str], trial: Trial, rounding: Rounding
) -> Chosen:
    ranges = {name: choices[name][method] for name, method in methods.items()}
    return Chosen(ranges, methods, trial.judge(quantize(graph, ranges, rounding).graph))


def _most_different(choices: Candidates, best: Chosen, count: int) -> list[tuple[str, str]]:
    """Up to `count` pairs (tensor, method), those first whose width differs most."""

    def difference(pair: tuple[str, str]) -> float:
        name, method = pair
        return -_unlike(best.ranges[name], choices[name][method])

    pairs = [(n, m) for n, ranges in choices.items() for m in ranges if m != best.methods[n]]
    return sorted(pairs, key=difference)[: max(count, 0)]
