"""Running statistics of a layer: what it costs does not depend on the number of samples."""

from collections.abc import Sequence

import numpy as np

from toolchain.check.metrics import ratio_db
from toolchain.ir import Array, TensorType
from toolchain.ir.fixedpoint import dequantize, quantize
from toolchain.quant.histogram import Histogram

OUTLYING = 0.001
"""Share of the values that a tail holds."""


class LayerStatistics:
    """Values and errors of one tensor, per channel of its last axis.

    Args:
        kind: Type of its codes.
        places: Which channels of the float model's tensor are left, in order.
        channels: How many that tensor has.
    """

    def __init__(self, kind: TensorType, places: Sequence[int], channels: int) -> None:
        self.quant, self.dtype, self.places = kind.q, kind.dtype, tuple(places)
        self.count = self.clipped = 0
        self.grid_noise = self.clip_noise = self.weight_noise = 0.0
        self.signal, self.noise, self.own_noise = (np.zeros(len(self.places)) for _ in range(3))
        self.low = np.full(channels, np.inf)
        self.high = np.full(channels, -np.inf)
        least, most = self.dtype.limits
        self.lowest = np.full(len(self.places), most, np.int32)
        self.highest = np.full(len(self.places), least, np.int32)
        self.histogram = Histogram()

    @property
    def representable(self) -> tuple[float, float]:
        """Smallest and largest real value that has a code."""
        low, high = dequantize(self.dtype.limits, self.quant)
        return float(low), float(high)

    def see(self, whole: Array) -> None:
        """Take the float model's values of one sample into account, [..., channels]."""
        values = whole.astype(np.float64).reshape(-1, len(self.low))
        low, high = self.representable
        outside = (values < low - self.quant.scale) | (values > high + self.quant.scale)
        self.count += values.size
        self.clipped += int(np.count_nonzero(outside))
        self.low = np.minimum(self.low, values.min(0))
        self.high = np.maximum(self.high, values.max(0))
        self.histogram.add(values)

    def add(
        self, reference: Array, codes: Array, own: Array, weighted: Array | None = None
    ) -> None:
        """Take the errors of one sample into account.

        Args:
            reference: Float values of the channels that are left.
            codes: Codes of the integer model.
            own: Codes when only this layer is computed in integers.
            weighted: Float values that the layer's integer weights give; None: it has none.
        """
        shape = (-1, len(self.signal))
        ref = reference.astype(np.float64).reshape(shape)
        given = codes.reshape(shape)
        self.signal += np.einsum("ij,ij->j", ref, ref)
        self.noise += _energy(dequantize(given, self.quant) - ref)
        self.own_noise += _energy(dequantize(own.reshape(shape), self.quant) - ref)
        grid = dequantize(quantize(ref, self.quant, self.dtype), self.quant) - ref
        if weighted is not None:
            self.weight_noise += float(_energy(weighted.reshape(shape) - ref).sum())
        self.grid_noise += float(np.sum(grid**2))
        self.clip_noise += float(np.sum(grid[np.abs(grid) > self.quant.scale] ** 2))
        self.lowest = np.minimum(self.lowest, given.min(0))
        self.highest = np.maximum(self.highest, given.max(0))

    @property
    def dead(self) -> Array:
        """Which channels always have the same code."""
        return np.asarray(self.lowest == self.highest)

    @property
    def input_noise(self) -> float:
        """What is left of the layer's own noise without that of its weights and its output."""
        rest = float(self.own_noise.sum()) - self.grid_noise - self.weight_noise
        return max(rest, 0.0)

    def spans(self) -> Array:
        """Largest magnitude of every channel."""
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)))

    def channel_db(self) -> Array:
        """Own SQNR of every channel in dB."""
        pairs = zip(self.signal, self.own_noise, strict=True)
        return np.array([ratio_db(float(s), float(n)) for s, n in pairs])

    def bulk(self) -> tuple[float, float]:
        """Interval, zero included, of all values but the `OUTLYING` share farthest out."""
        counts = self.histogram.counts
        cut = OUTLYING * self.histogram.total / 2
        cumulative = np.cumsum(counts) + 0.0
        first = int(np.searchsorted(cumulative, cut, side="right"))
        last = int(np.searchsorted(cumulative, cumulative[-1] - cut, side="left"))
        width = self.histogram.width
        low = (self.histogram.first + first) * width
        high = (self.histogram.first + min(last, len(counts) - 1) + 1) * width
        return min(low, 0.0), max(high, 0.0)


def _energy(error: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", error, error))
