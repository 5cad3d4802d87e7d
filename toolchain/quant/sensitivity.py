"""Which layers need int16 codes: the most sensitive ones, until the outputs are good enough."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from toolchain.ir import Array, Graph
from toolchain.ops.wide import moves_codes, twin
from toolchain.quant.mixture import Mixture
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


def widen(
    mixture: Mixture,
    samples: Samples,
    good: Callable[[Outputs, Outputs], bool],
    holds: Callable[[Graph], bool] | None = None,
    progress: Progress | None = None,
) -> Widened:
    """Give int16 codes to as many layers as the outputs need, the most sensitive first.

    Sensitivity is measured once: the noise of the outputs when only this layer has int8 codes.
    How many are enough is bracketed, then bisected; each time weights are refined as they will be.

    Args:
        mixture: The model; layers that have another precision keep it.
        samples: Real values [N, ...] of the inputs.
        good: Whether outputs, beside those of the float graph, are good enough.
        holds: What the integer model has to keep besides; it is asked of what is good enough, and
            of more and more layers until it holds.
        progress: Called with (integer models judged, the most there may be).
    """
    graph = mixture.graph
    expected = float_values(graph, samples, graph.outputs)
    taken = mixture.wide | mixture.few
    candidates = [
        op.y
        for op in graph.ops
        if not moves_codes(op) and twin(op) is not None and op.y not in taken
    ]
    most, done = len(candidates) + 2 * len(candidates).bit_length() + 1, 0

    def judged(model: Mixture, wide: frozenset[str]) -> Outputs:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, most)
        return model.also(wide).outputs(samples)

    def kept(wide: frozenset[str]) -> bool:
        return holds is None or holds(mixture.also(wide).quantized().graph)

    none: frozenset[str] = frozenset()
    if good(expected, judged(mixture, none)) and kept(none):
        return Widened(none, True, ())
    every = frozenset(candidates)
    noise = {y: _noise(expected, judged(mixture.unrefined, every - {y})) for y in candidates}
    order = sorted(candidates, key=lambda y: -noise[y])
    measured = tuple((y, noise[y]) for y in order)
    count = _fewest(len(order), lambda n: good(expected, judged(mixture, frozenset(order[:n]))))
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
