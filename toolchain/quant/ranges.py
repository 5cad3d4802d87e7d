"""Histograms to ranges: which real interval the int8 codes of a tensor have to cover."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolchain.quant.histogram import Extremes, Histogram

Method = Literal["minmax", "percentile", "entropy", "mse"]
"""One way for all tensors."""
Calibration = Literal["auto", "minmax", "percentile", "entropy", "mse"]
"""The same, or for each tensor what is best for the outputs."""
METHODS: tuple[Method, ...] = ("minmax", "percentile", "entropy", "mse")
PERCENTILE = 99.99
"""Share of values that method "percentile" keeps unless told otherwise, in percent."""

_LEVELS = 255  # steps between the 256 codes
_CANDIDATES = 64  # ends tried on each side
_VALUES_PER_LEVEL = 16  # with fewer a histogram shows its samples, not their distribution
_MIN_SPAN = 1e-12
_OUTLIER = 8.0


@dataclass(frozen=True, slots=True)
class Range:
    """A real interval that contains zero and is not empty."""

    low: float
    high: float


def choose_range(seen: Extremes, method: Method, percentile: float = PERCENTILE) -> Range:
    """The range of one tensor; one that is always zero, or as good as, gets 0..1.

    - "minmax": everything seen fits.
    - "percentile": `percentile` % of the values other than zero fit; what is cut off is half above,
      half below.
    - "entropy": the interval whose 256-level version is closest to the full distribution by
      Kullback-Leibler divergence; tensors of too few values keep minmax.
    - "mse": the interval of least mean squared error, of rounding inside and clipping outside.

    Args:
        seen: Extremes for "minmax", a Histogram for the others.
        method: How to choose.
        percentile: Share of values to keep, in percent.
    """
    whole = Range(seen.low, seen.high)
    if whole.high - whole.low < _MIN_SPAN:
        # Not worth a code; a common range keeps scales and biases ordinary numbers.
        return Range(0.0, 1.0)
    if method == "minmax" or not isinstance(seen, Histogram):
        return whole
    cut = {
        "percentile": lambda: percentile_range(seen, percentile),
        "entropy": lambda: entropy_range(seen),
        "mse": lambda: mse_range(seen),
    }[method]()
    return cut if cut.high - cut.low >= _MIN_SPAN else whole


def outlier_ratio(histogram: Histogram) -> float | None:
    """How many times wider the whole range is than that of 99.99 % of the values; None: not much.

    Tensors of fewer values than a histogram needs to show a tail have no outliers.
    """
    if histogram.counts.sum() < _VALUES_PER_LEVEL * _LEVELS:
        return None
    most = percentile_range(histogram, PERCENTILE)
    ratio = (histogram.high - histogram.low) / max(most.high - most.low, histogram.width)
    return ratio if ratio >= _OUTLIER else None


def percentile_range(histogram: Histogram, percentile: float) -> Range:
    """Cut off (100 - percentile) / 2 % of the values on each side, to the edge of a bin.

    Exact zeros are left out: every range keeps them exact, and the few values that a mostly silent
    tensor has are not outliers. An end never lies outside the data, nor on the far side of zero.
    """
    cumulative = np.cumsum(histogram.counts)
    total = int(cumulative[-1])
    if not total:
        return Range(histogram.low, histogram.high)
    cut = int(total * (100.0 - percentile) / 200.0)
    below = int(np.searchsorted(cumulative, cut, side="right"))
    above = int(np.searchsorted(cumulative, total - cut, side="left"))
    low = (histogram.first + below) * histogram.width
    high = (histogram.first + above + 1) * histogram.width
    return Range(min(0.0, max(low, histogram.low)), max(0.0, min(high, histogram.high)))


def entropy_range(histogram: Histogram) -> Range:
    """The interval of least divergence between the distribution and its 256-level version.

    Reference: the histogram cut to the interval, what is cut off added to the outermost bins.
    Compared with it: the cut histogram without that, each of 255 equal steps spread evenly over
    the bins of it that hold values. Exact zeros are left out: every candidate keeps them exact.
    The two ends are searched in turn, twice, over evenly spaced candidates.
    """
    counts, first = histogram.counts, histogram.first
    enough = int(counts.sum()) >= _VALUES_PER_LEVEL * _LEVELS
    negative, positive = -first, counts.size + first  # bins on either side of zero
    if not enough or counts.size <= _LEVELS + 1:
        return Range(histogram.low, histogram.high)
    divergence = _Divergence(counts)
    left, right = negative, positive
    for _ in range(2 if negative and positive > 1 else 1):
        right = divergence.best(negative, [left], _ends(positive, _LEVELS + 1 - left))[1]
        left = divergence.best(negative, _ends(negative, _LEVELS + 1 - right), [right])[0]
    return Range(
        max(0.0 - left * histogram.width, histogram.low),
        min(right * histogram.width, histogram.high),
    )


Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def mse_range(histogram: Histogram, function: Function | None = None) -> Range:
    """The interval of least mean squared error over the values other than zero.

    Inside it the error of rounding is uniform, step^2 / 12; a value outside becomes the nearest
    end. All pairs of evenly spaced ends are tried; of equal ones the widest is taken.

    Args:
        histogram: Of the tensor.
        function: What the values are read through, element by element: the error is that of its
            results, so where it hardly changes nothing is lost by clipping.
    """
    counts, first, width = histogram.counts, histogram.first, histogram.width
    negative, positive = -first, counts.size + first
    edges = np.asarray((np.arange(counts.size + 1) + first) * width, np.float64)
    results = edges if function is None else function(edges)
    middles, slopes = (results[1:] + results[:-1]) / 2, np.diff(results) / width
    powers = [counts * middles**p for p in range(3)]
    sums = [np.concatenate(([0.0], np.cumsum(p))) for p in (*powers, counts * slopes**2)]
    lefts, rights = (np.array(_ends(n, 0)) for n in (negative, positive))
    low, high = -lefts * width, rights * width
    below = [s[negative - lefts] for s in sums]
    above = [s[-1] - s[negative + rights] for s in sums]
    at_low, at_high = results[negative - lefts], results[negative + rights]
    clipped_low = below[2] - 2 * at_low * below[1] + at_low**2 * below[0]
    clipped_high = above[2] - 2 * at_high * above[1] + at_high**2 * above[0]
    inside = sums[3][-1] - below[3][:, None] - above[3][None, :]
    steps = (high[None, :] - low[:, None]) / _LEVELS
    error = inside * steps**2 / 12 + clipped_low[:, None] + clipped_high[None, :]
    error[steps <= 0] = np.inf
    best = np.argwhere(error <= error.min() * (1 + 1e-9))[-1]
    return Range(max(float(low[best[0]]), histogram.low), min(float(high[best[1]]), histogram.high))


def _ends(size: int, least: int) -> list[int]:
    """Up to `_CANDIDATES` distances from zero, at least `least` bins, `size` the last of them."""
    start = min(size, max(least, size // 16, 0))
    return sorted({int(n) for n in np.linspace(start, size, _CANDIDATES)})


class _Divergence:
    """Kullback-Leibler divergence of intervals of one histogram, from its prefix sums."""

    def __init__(self, counts: NDArray[np.int64]) -> None:
        self._counts = counts.astype(np.float64)
        self._mass = np.concatenate(([0.0], np.cumsum(self._counts)))
        self._filled = np.concatenate(([0], np.cumsum(counts > 0)))
        terms = self._counts * np.log(np.maximum(self._counts, 1.0))
        self._entropy = np.concatenate(([0.0], np.cumsum(terms)))

    def best(self, zero: int, lefts: list[int], rights: list[int]) -> tuple[int, int]:
        """The pair (left, right) of least divergence; the widest one where several are equal."""
        pairs = list(product(lefts, rights))
        values = [self.of(zero - left, zero + right) for left, right in pairs]
        least = min(values)
        limit = least + 1e-9 + 1e-6 * abs(least)
        return max((p for p, v in zip(pairs, values, strict=True) if v <= limit), key=sum)

    def of(self, start: int, stop: int) -> float:
        """Divergence of bins [start, stop)."""
        total, inside = self._mass[-1], self._mass[stop] - self._mass[start]
        if not inside:
            return float("inf")
        below, above = self._mass[start], total - self._mass[stop]
        edges = start + (np.arange(_LEVELS + 1) * (stop - start)) // _LEVELS
        mass, filled = np.diff(self._mass[edges]), np.diff(self._filled[edges])
        level = mass / np.maximum(filled, 1)
        level[filled == 0] = 1e-4  # nothing seen there: small, so that cutting into a gap is dear
        logs = np.log(level)
        cross = float(mass @ logs) + below * logs[0] + above * logs[-1]
        own = self._entropy[stop] - self._entropy[start]
        for edge, extra in ((start, below), (stop - 1, above)):
            own += _xlogx(self._counts[edge] + extra) - _xlogx(self._counts[edge])
        return float((own - cross) / total - np.log(total) + np.log(inside))


def _xlogx(x: float) -> float:
    """The function x log x, zero at zero."""
    return float(x * np.log(x)) if x > 0 else 0.0
