"""How good is a quantisation: the outputs' error over samples that chose nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, Graph, Op
from toolchain.ir.batch import evaluate_op, last_uses, simulate_batch, simulate_op
from toolchain.ir.fixedpoint import dequantize, quantize_as
from toolchain.ops.log_softmax import LogSoftmax
from toolchain.ops.softmax import Softmax
from toolchain.ops.unary import Unary

_TINY = 1e-30
_LEAST_GAIN = 0.01

_SETTLED = {"sigmoid": float(np.log(511)), "tanh": float(np.arctanh(255 / 256))}
"""Where a function is within half a code of its limits."""

Samples = Mapping[str, Array]
"""Real values [N, *shape] of every graph input."""
View = Callable[[Array], Array]
"""What counts of values [N, *shape]."""


def judged(graph: Graph) -> dict[str, View]:
    """The outputs, and the values that a last softmax or sigmoid is computed from.

    Where most probabilities are 0 or 1 the error of the output alone is that of a few samples. Of
    the values before it only what can show in its codes counts: beyond, they are clipped.
    """
    producers = graph.producers()
    found: dict[str, View] = {}
    for y in graph.outputs:
        last = producers.get(y)
        found[y] = _whole
        if isinstance(last, LogSoftmax):
            found[last.x] = _whole
        elif isinstance(last, Softmax):
            found[last.x] = _below_the_largest
        elif isinstance(last, Unary) and last.expression[0] in _SETTLED:
            found[last.x] = partial(_bounded, _SETTLED[last.expression[0]])
    return found


def _whole(values: Array) -> Array:
    return values


def _bounded(limit: float, values: Array) -> Array:
    """Values within the limit on both sides."""
    return np.clip(values, -limit, limit)


def _below_the_largest(values: Array) -> Array:
    """Distances from the largest value of a row, as far as a softmax shows them."""
    below = values - values.max(axis=-1, keepdims=True)
    return np.asarray(np.maximum(below, -_SETTLED["sigmoid"]))


def float_values(graph: Graph, samples: Samples, names: Iterable[str]) -> dict[str, Array]:
    """The named tensors [N, *shape] of the float graph."""
    values: dict[str, Array] = {**graph.constants, **samples}
    wanted = set(names)
    for op, dying in last_uses(graph):
        values.update(zip(op.outputs, evaluate_op(graph, op, values), strict=True))
        for name in dying:
            if name not in wanted:
                del values[name]
    return {name: values[name] for name in wanted}


def integer_outputs(graph: Graph, samples: Samples) -> dict[str, Array]:
    """Real outputs [N, *shape] of an integer graph."""
    codes = {x: quantize_as(samples[x], graph.types[x]) for x in graph.inputs}
    found = simulate_batch(graph, codes)
    return {y: dequantize(found[y], graph.types[y].q) for y in graph.outputs}


@dataclass(frozen=True, slots=True)
class Score:
    """Errors of an integer graph by sample, relative to the mean of the first graph judged."""

    errors: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """1.0 for the first graph judged."""
        return float(self.errors.mean())

    @property
    def gain_db(self) -> float:
        """How far the error is below that of the first graph judged."""
        return float(-10 * np.log10(max(self.mean, _TINY)))

    def better_than(self, other: "Score", certainty: float = 0.5) -> bool:
        """Whether the error is smaller, and not by the luck of these samples.

        The mean difference by sample has to be 1 % of the error at least, and `certainty`
        standard errors of that mean: the more candidates are tried, the more certainty it takes.
        """
        difference = other.errors - self.errors
        count = len(difference)
        chance = float(difference.std(ddof=1)) / np.sqrt(count) if count > 1 else 0.0
        return bool(difference.mean() > max(certainty * chance, _LEAST_GAIN * other.mean))


class Trial:
    """Integer graphs of one float graph, judged on the same samples.

    An output's error is its noise energy and, where a softmax or sigmoid is last, that of the
    values before it in equal parts, each relative to the first graph judged.
    What a graph shares with the one kept last, from the inputs on, is not computed again.

    Args:
        graph: The float graph.
        samples: Held-back samples.
    """

    def __init__(self, graph: Graph, samples: Samples) -> None:
        self._samples = samples
        self._judged = judged(graph)
        self._expected = float_values(graph, samples, self._judged)
        self._first: dict[str, float] = {}
        self._kept: tuple[Graph, dict[str, Array]] | None = None
        self._last: tuple[Graph, dict[str, Array]] | None = None
        self.count = 0

    def judge(self, graph: Graph) -> Score:
        """The errors of one graph."""
        self.count += 1
        values = self._values(graph)
        self._last = graph, values
        noise = {}
        for name, view in self._judged.items():
            expected = view(self._expected[name].astype(np.float64))
            error = view(dequantize(values[name], graph.types[name].q)) - expected
            noise[name] = (error**2).reshape(len(error), -1).sum(axis=1)
        if not self._first:
            self._first = {name: float(n.mean()) or 1.0 for name, n in noise.items()}
        return Score(np.mean([noise[n] / self._first[n] for n in self._judged], axis=0))

    def sqnr_db(self) -> float:
        """SQNR of the worst output of the graph judged last."""
        assert self._last is not None
        graph, values = self._last
        ratios = []
        for y in graph.outputs:
            expected = self._expected[y].astype(np.float64)
            noise = float(np.sum((dequantize(values[y], graph.types[y].q) - expected) ** 2))
            ratios.append((float(np.sum(expected**2)) + _TINY) / (noise + _TINY))
        return float(10 * np.log10(min(ratios)))

    def keep(self) -> None:
        """Compare further graphs with the one judged last."""
        self._kept = self._last

    def _values(self, graph: Graph) -> dict[str, Array]:
        old, known = self._kept or (None, {})
        values: dict[str, Array] = dict(graph.constants)
        same: set[str] = set()
        for x in graph.inputs:
            if old is not None and old.types[x] == graph.types[x]:
                values[x] = known[x]
                same.add(x)
            else:
                values[x] = quantize_as(self._samples[x], graph.types[x])
        before = {} if old is None else {op.y: op for op in old.ops}
        for op in graph.ops:
            if old is not None and before.get(op.y) == op and _alike(graph, old, op, same):
                values.update((y, known[y]) for y in op.outputs)
                same.update(op.outputs)
            else:
                values.update(zip(op.outputs, simulate_op(graph, op, values), strict=True))
        return values


def _alike(graph: Graph, old: Graph, op: Op, same: set[str]) -> bool:
    """Whether an operator both graphs have gives the same codes in both."""
    for name in (*op.inputs, *op.outputs):
        if graph.types[name] != old.types[name]:
            return False
    for name in op.inputs:
        if name not in graph.constants:
            if name not in same:
                return False
        elif graph.constants[name] is not old.constants[name] and not np.array_equal(
            graph.constants[name], old.constants[name]
        ):
            return False
    return True
