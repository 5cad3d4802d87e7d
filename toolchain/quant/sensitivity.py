"""Which layers need int16 codes: the most sensitive ones, until the outputs are good enough."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from toolchain.ir import Array, Graph, Rounding
from toolchain.ir.batch import simulate_batch
from toolchain.ir.fixedpoint import dequantize, quantize_as
from toolchain.ops.wide import moves_codes, twin
from toolchain.quant.layers import Recipe, refine_layers
from toolchain.quant.mixed import mix
from toolchain.quant.quantize import Quantized, quantize
from toolchain.quant.ranges import Range
from toolchain.quant.trial import Samples, float_values

Outputs = Mapping[str, Array]
Progress = Callable[[int, int], None]

_TINY = 1e-30


@dataclass(frozen=True, slots=True)
class Widened:
    """What became of a search for layers.

    Args:
        layers: Tensors that the chosen layers write.
        enough: The outputs are good enough with them.
        order: All candidates, the most sensitive first, with the outputs' relative noise when
            nothing but this one has int8 codes.
    """

    layers: frozenset[str]
    enough: bool
    order: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Plain:
    """A float graph with what quantize() and mix() take.

    Args:
        graph: Float graph, every operator on int8 codes, with the weights it had.
        ranges: Ranges for quantize().
        seen: Extremes of the same tensors.
        rounding: How the integer model requantises.
        refined: The same graph with weights refined for int8 codes; None: they were not.
        recipe: How they were; beside int16 codes they are refined again in this way.
        fit: Samples to refine by.
        named: Layers that have int16 codes whatever else has, by the tensors they write.
    """

    graph: Graph
    ranges: Mapping[str, Range]
    seen: Mapping[str, Range]
    rounding: Rounding
    refined: Graph | None = None
    recipe: Recipe | None = None
    fit: Samples | None = None
    named: frozenset[str] = frozenset()

    @property
    def unrefined(self) -> "Plain":
        """The same with the weights it had."""
        return replace(self, refined=None, recipe=None)

    def quantized(self, wide: frozenset[str]) -> Quantized:
        """The integer model with these layers and the named ones on int16 codes."""
        wide = wide | self.named
        source = self.graph if wide or self.refined is None else self.refined
        mixed = mix(source, wide, self.ranges, self.seen)
        made = quantize(mixed.graph, mixed.ranges, self.rounding)
        if wide and self.recipe is not None and self.fit is not None:
            # what other layers make of their int8 codes has changed
            again = refine_layers(mixed.graph, made.graph, self.fit, self.recipe)
            made = quantize(again, mixed.ranges, self.rounding)
        return replace(made, warnings=(*made.warnings, *mixed.notes))

    def outputs(self, wide: frozenset[str], samples: Samples) -> Outputs:
        """Real outputs [N, ...] of that integer model."""
        integer = self.quantized(wide).graph
        codes = {x: quantize_as(samples[x], integer.types[x]) for x in integer.inputs}
        found = simulate_batch(integer, codes)
        return {y: dequantize(found[y], integer.types[y].q) for y in integer.outputs}


def widen(
    plain: Plain,
    samples: Samples,
    good: Callable[[Outputs, Outputs], bool],
    holds: Callable[[Graph], bool] | None = None,
    progress: Progress | None = None,
) -> Widened:
    """Give int16 codes to as many layers as the outputs need, the most sensitive first.

    Sensitivity is measured once: the noise of the outputs when only this layer has int8 codes.
    How many are enough is bracketed, then bisected; each time weights are refined as they will be.

    Args:
        plain: The model.
        samples: Real values [N, ...] of the inputs.
        good: Whether outputs, beside those of the float graph, are good enough.
        holds: What the integer model has to keep besides; it is asked of what is good enough, and
            of more and more layers until it holds.
        progress: Called with (integer models judged, the most there may be).
    """
    graph = plain.graph
    expected = float_values(graph, samples, graph.outputs)
    candidates = [
        op.y
        for op in graph.ops
        if not moves_codes(op) and twin(op) is not None and op.y not in plain.named
    ]
    most, done = len(candidates) + 2 * len(candidates).bit_length() + 1, 0

    def judged(model: Plain, wide: frozenset[str]) -> Outputs:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, most)
        return model.outputs(wide, samples)

    def kept(wide: frozenset[str]) -> bool:
        return holds is None or holds(plain.quantized(wide).graph)

    none: frozenset[str] = frozenset()
    if good(expected, judged(plain, none)) and kept(none):
        return Widened(none, True, ())
    every = frozenset(candidates)
    noise = {y: _noise(expected, judged(plain.unrefined, every - {y})) for y in candidates}
    order = sorted(candidates, key=lambda y: -noise[y])
    measured = tuple((y, noise[y]) for y in order)
    count = _fewest(len(order), lambda n: good(expected, judged(plain, frozenset(order[:n]))))
    enough = holds is None and count is not None
    count, step = len(order) if count is None else count, 1
    while holds is not None and not (enough := kept(frozenset(order[:count]))):
        if count == len(order):
            break
        count, step = min(count + step, len(order)), 2 * step
    return Widened(frozenset(order[:count]), enough, measured)


def _fewest(most: int, enough: Callable[[int], bool]) -> int | None:
    """The least number from 1 on that is enough, as far as more are never worse; None: none is."""
    low, high = 0, 1
    while high < most and not enough(high):
        low, high = high, min(2 * high, most)
    if high >= most and not (most and enough(most)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _noise(expected: Outputs, found: Outputs) -> float:
    """Noise of the worst output relative to its signal."""
    ratios = []
    for y, real in expected.items():
        signal = float(np.sum(real.astype(np.float64) ** 2))
        error = float(np.sum((found[y].astype(np.float64) - real) ** 2))
        ratios.append(error / (signal + _TINY))
    return max(ratios)
