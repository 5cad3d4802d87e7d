"""A histogram of fixed size that widens as data arrives, without ever moving a count wrongly."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

_MIN_EXPONENT = -140


@dataclass(slots=True)
class Extremes:
    """Smallest and largest value seen, zero included."""

    low: float = 0.0
    high: float = 0.0

    def add(self, values: NDArray[np.generic]) -> None:
        """Take finite values of any shape into account."""
        if values.size:
            self.low = min(self.low, float(values.min()))
            self.high = max(self.high, float(values.max()))


@dataclass(slots=True)
class Histogram(Extremes):
    """Counts of values in bins [i * w, (i + 1) * w) where the width w is a power of two.

    Bin edges lie on multiples of w, so doubling w merges bins 2i and 2i + 1 exactly: the result is
    the histogram that all values together would have given, whatever the order they came in. An
    edge always falls on zero. Exact zeros are counted apart: an asymmetric int8 code represents
    them without error.

    Args:
        bins: Number of bins; the range of the data fills more than half of them.
    """

    bins: int = 4096
    zeros: int = 0
    _exponent: int = _MIN_EXPONENT
    _first: int = 0
    _counts: Counts = field(default_factory=lambda: np.zeros(1, np.int64))

    @property
    def width(self) -> float:
        """Width of one bin."""
        return float(2.0**self._exponent)

    @property
    def first(self) -> int:
        """Index of the first bin: it begins at first * width."""
        return self._first

    @property
    def counts(self) -> Counts:
        """Values other than zero in each bin, the range between them and zero included."""
        return self._counts

    @property
    def total(self) -> int:
        """Number of values, zeros included."""
        return self.zeros + int(self._counts.sum())

    def add(self, values: NDArray[np.generic]) -> None:
        """Count finite values of any shape."""
        if not values.size:
            return
        Extremes.add(self, values)
        self._widen()
        wide = values.astype(np.float64).ravel()
        zeros = wide.size - int(np.count_nonzero(wide))
        wide *= 2.0**-self._exponent
        index = np.floor(wide, out=wide).astype(np.int64)
        index -= self._first
        self._counts += np.bincount(index, minlength=self._counts.size)
        self._counts[-self._first] -= zeros
        self.zeros += zeros

    def merge(self, other: "Histogram") -> None:
        """Count everything another histogram of as many bins has counted."""
        assert self.bins == other.bins
        self.low = min(self.low, other.low)
        self.high = max(self.high, other.high)
        self._widen()
        shift = min(self._exponent - other._exponent, 62)
        index = (np.arange(other._counts.size, dtype=np.int64) + other._first) >> shift
        np.add.at(self._counts, index - self._first, other._counts)
        self.zeros += other.zeros

    def _widen(self) -> None:
        """Make room for low..high, with the narrowest bins that suffice."""
        exponent = self._exponent
        while True:
            first = int(np.floor(self.low * 2.0**-exponent))
            last = int(np.floor(self.high * 2.0**-exponent))
            if last - first < self.bins:
                break
            exponent += 1
        size = last - first + 1
        if exponent == self._exponent and first == self._first and size == self._counts.size:
            return
        shift = min(exponent - self._exponent, 62)
        index = (np.arange(self._counts.size, dtype=np.int64) + self._first) >> shift
        counts = np.zeros(size, np.int64)
        np.add.at(counts, index - first, self._counts)
        self._exponent, self._first, self._counts = exponent, first, counts
