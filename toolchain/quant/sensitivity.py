"""Which layers need int16 codes: the most sensitive ones, until the outputs are good enough."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from toolchain.ir import Array, Graph, Rounding
from toolchain.ir.batch import simulate_batch
from toolchain.ir.fixedpoint import dequantize, quantize_as
from toolchain.ops.wide import moves_codes, twin
from toolchain.quant.mixed import mix
from toolchain.quant.quantize import quantize
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
        graph: Float graph, every operator on int8 codes.
        ranges: Ranges for quantize().
        seen: Extremes of the same tensors.
        rounding: How the integer model requantises.
    """

    graph: Graph
    ranges: Mapping[str, Range]
    seen: Mapping[str, Range]
    rounding: Rounding

    def outputs(self, wide: frozenset[str], samples: Samples) -> Outputs:
        """Real outputs [N, ...] of the integer model with some layers on int16 codes."""
        mixed = mix(self.graph, wide, self.ranges, self.seen)
        integer = quantize(mixed.graph, mixed.ranges, self.rounding).graph
        codes = {x: quantize_as(samples[x], integer.types[x]) for x in integer.inputs}
        found = simulate_batch(integer, codes)
        return {y: dequantize(found[y], integer.types[y].q) for y in integer.outputs}


def widen(
    plain: Plain,
    samples: Samples,
    good: Callable[[Outputs, Outputs], bool],
    progress: Progress | None = None,
) -> Widened:
    """Give int16 codes to as many layers as the outputs need, the most sensitive first.

    Sensitivity is measured once: the noise of the outputs when only this layer has int8 codes.

    Args:
        plain: The model.
        samples: Real values [N, ...] of the inputs.
        good: Whether outputs, beside those of the float graph, are good enough.
        progress: Called with (integer models judged, the most there may be).
    """
    graph = plain.graph
    expected = float_values(graph, samples, graph.outputs)
    candidates = [op.y for op in graph.ops if not moves_codes(op) and twin(op) is not None]
    most, done = 2 * len(candidates) + 1, 0

    def judged(wide: frozenset[str]) -> Outputs:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, most)
        return plain.outputs(wide, samples)

    if good(expected, judged(frozenset())):
        return Widened(frozenset(), True, ())
    every = frozenset(candidates)
    noise = {y: _noise(expected, judged(every - {y})) for y in candidates}
    order = sorted(candidates, key=lambda y: -noise[y])
    measured = tuple((y, noise[y]) for y in order)
    chosen: frozenset[str] = frozenset()
    for y in order:
        chosen |= {y}
        if good(expected, judged(chosen)):
            return Widened(chosen, True, measured)
    return Widened(chosen, False, measured)


def _noise(expected: Outputs, found: Outputs) -> float:
    """Noise of the worst output relative to its signal."""
    ratios = []
    for y, real in expected.items():
        signal = float(np.sum(real.astype(np.float64) ** 2))
        error = float(np.sum((found[y].astype(np.float64) - real) ** 2))
        ratios.append(error / (signal + _TINY))
    return max(ratios)
