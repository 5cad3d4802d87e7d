"""Samples to statistics and ranges: what each tensor of the float model holds."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from toolchain.errors import InputRefused
from toolchain.frontend.session import FloatSession
from toolchain.ir import Origin
from toolchain.quant.histogram import Extremes, Histogram
from toolchain.quant.ranges import METHODS, PERCENTILE, Method, Range, choose_range

__all__ = ["Method", "Range", "calibrate", "check_method", "observe"]

Progress = Callable[[int, int], None]
Seen = TypeVar("Seen", bound=Extremes)


def calibrate(
    session: FloatSession,
    samples: Iterable[Mapping[str, NDArray[np.generic]]],
    tensors: Sequence[str],
    method: Method = "minmax",
    percentile: float = PERCENTILE,
    progress: Progress | None = None,
) -> dict[str, Range]:
    """Run every sample once and choose a range for each tensor by the same method.

    Memory does not depend on the number of samples.

    Args:
        session: The float model, made with all of `tensors` in view.
        samples: Samples [1, ...] by input name.
        tensors: Names to choose ranges for.
        method: How to choose (see choose_range).
        percentile: Share of values to keep, in percent, above 50 and at most 100.
        progress: Called with (samples done, samples in all, 0 when unknown) after each sample.

    Returns:
        Range of each tensor; one that is always zero, or as good as, gets 0..1.

    Raises:
        InputRefused: No samples, or a tensor is not finite.
    """
    check_method(method, percentile)
    kind = Extremes if method == "minmax" else Histogram
    origins = {name: Origin(name) for name in tensors}
    seen = observe(session, samples, origins, kind, progress)
    return {name: choose_range(tensor, method, percentile) for name, tensor in seen.items()}


def check_method(method: str, percentile: float) -> None:
    """Refuse a method that is none, and shares that keep nothing or more than everything.

    Raises:
        InputRefused: As said.
    """
    if method not in METHODS:
        known = ", ".join(METHODS[:-1])
        raise InputRefused("calibrate", method, "unknown method", f"use {known} or {METHODS[-1]}")
    if not 50.0 < percentile <= 100.0:
        raise InputRefused(
            "calibrate", "percentile", f"{percentile} is not above 50 and at most 100"
        )


def observe(
    session: FloatSession,
    samples: Iterable[Mapping[str, NDArray[np.generic]]],
    tensors: Mapping[str, Origin],
    kind: type[Seen],
    progress: Progress | None = None,
) -> dict[str, Seen]:
    """Run every sample once; what was seen of each tensor.

    Args:
        session: The float model, made with the ONNX tensors of all origins in view.
        samples: Samples [1, ...] by input name.
        tensors: What to look at, by any names.
        kind: What to keep: Extremes or Histogram, whose size does not depend on the samples.
        progress: Called with (samples done, samples in all, 0 when unknown) after each sample.

    Raises:
        InputRefused: No samples, or a tensor is not finite.
    """
    seen = {name: kind() for name in tensors}
    total = len(samples) if isinstance(samples, Sized) else 0
    done = 0
    for done, sample in enumerate(samples, start=1):
        values = session.run(sample)
        for name, tensor in seen.items():
            value = tensors[name].arranged(values[tensors[name].tensor])
            if not np.isfinite(value).all():
                reason = f"the float model computes NaN or infinity here for sample {done - 1}"
                raise InputRefused(
                    "calibrate", tensors[name].tensor, reason, "check the range of the samples"
                )
            tensor.add(value)
        if progress is not None:
            progress(done, total)
    if not done:
        raise InputRefused("calibrate", "", "there are no samples to calibrate with")
    return seen
