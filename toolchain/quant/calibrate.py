"""Samples to statistics: what each tensor of the float model holds."""

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from toolchain.errors import InputRefused
from toolchain.frontend.session import FloatSession
from toolchain.ir import Origin
from toolchain.quant.histogram import Extremes, Histogram
from toolchain.quant.ranges import METHODS

Progress = Callable[[int, int], None]
Vector = NDArray[np.float64]


@dataclass(slots=True)
class Profile:
    """What was seen of a tensor; its size does not depend on the number of samples.

    Args:
        origin: Where its values come from.
        histogram: Of all values.
        low: Smallest value of each channel, an index of the last axis; infinite before any.
        high: Largest value of each channel.
    """

    origin: Origin = field(default_factory=lambda: Origin(""))
    histogram: Histogram = field(default_factory=Histogram)
    low: Vector = field(default_factory=lambda: np.full(1, np.inf))
    high: Vector = field(default_factory=lambda: np.full(1, -np.inf))

    def add(self, values: NDArray[np.generic]) -> None:
        """Take finite values [..., channels] into account."""
        self.histogram.add(values)
        if values.size:
            rows = values.reshape(-1, values.shape[-1] if values.ndim else 1)
            self.low = np.minimum(self.low, rows.min(axis=0))
            self.high = np.maximum(self.high, rows.max(axis=0))

    def moved(self, origin: Origin) -> Extremes:
        """Extremes of a tensor with other gains and shifts of the same values, signs kept."""
        if not np.isfinite(self.low).all():
            return Extremes()
        ends = [self._through(origin, end) for end in (self.low, self.high)]
        found = Extremes()
        for end in ends:
            found.add(end)
        return found

    def _through(self, origin: Origin, end: Vector) -> Vector:
        (gain, shift), (new_gain, new_shift) = (_affine(o, end.size) for o in (self.origin, origin))
        return np.asarray((end - shift) / gain * new_gain + new_shift)


def _affine(origin: Origin, size: int) -> tuple[Vector, Vector]:
    """Gain and shift of each index of the last axis."""
    gain = np.ones(1) if origin.gain is None else np.array(origin.gain)
    shift = np.zeros(1) if origin.shift is None else np.array(origin.shift)
    return np.resize(gain, size), np.resize(shift, size)


def check_method(method: str, percentile: float) -> None:
    """Refuse a method that is none, and shares that keep nothing or more than everything.

    Raises:
        InputRefused: As said.
    """
    if method not in METHODS:
        known = ", ".join(METHODS[:-1])
        raise InputRefused("calibrate", method, "unknown method", f"use {known} or {METHODS[-1]}")
    if not 50.0 < percentile <= 100.0:
        reason = f"{percentile} is not above 50 and at most 100"
        raise InputRefused("calibrate", "percentile", reason, "a usual share is 99.99")


def observe(
    session: FloatSession,
    samples: Iterable[Mapping[str, NDArray[np.generic]]],
    tensors: Mapping[str, tuple[Origin, tuple[int, ...] | None]],
    progress: Progress | None = None,
) -> dict[str, Profile]:
    """Run every sample once; what was seen of each tensor.

    Args:
        session: The float model, made with the ONNX tensors of all origins in view.
        samples: Samples [1, ...] by input name.
        tensors: What to look at, by any names: origins and shapes; None as in the ONNX model.
        progress: Called with (samples done, samples in all, 0 when unknown) after each sample.

    Raises:
        InputRefused: No samples, or a tensor is not finite.
    """
    seen = {name: Profile(origin) for name, (origin, _) in tensors.items()}
    total = len(samples) if isinstance(samples, Sized) else 0
    done = 0
    for done, sample in enumerate(samples, start=1):
        values = session.run(sample)
        for name, tensor in seen.items():
            value = tensor.origin.whole(values[tensor.origin.tensor], tensors[name][1])
            if not np.isfinite(value).all():
                reason = f"the float model computes NaN or infinity here for sample {done - 1}"
                raise InputRefused(
                    "calibrate", tensor.origin.tensor, reason, "check the range of the samples"
                )
            tensor.add(value)
        if progress is not None:
            progress(done, total)
    if not done:
        reason = "there are no samples to calibrate with"
        raise InputRefused("calibrate", "", reason, "give some hundred representative inputs")
    return seen
