"""Random kernel calls: one dataclass per family, drawn from a size-biased generator."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Pair = tuple[int, int]

_SETTINGS = settings(
    deadline=None,
    max_examples=int(os.environ.get("GLUE_EXAMPLES", "150")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    print_blob=True,
)


def fuzz(*strategies: Any, **named: Any) -> Callable[[Any], Any]:
    """Hypothesis' given with this folder's settings; GLUE_EXAMPLES sets the number of examples."""
    return lambda test: _SETTINGS(given(*strategies, **named)(test))


@dataclass(frozen=True)
class Window:
    """Geometry of a convolution or pooling; pairs are (height, width)."""

    batch: int
    size: Pair
    kernel: Pair
    stride: Pair
    padding: Pair
    end: Pair
    dilation: Pair

    @property
    def out(self) -> Pair:
        return tuple(
            (n + p + e - (k - 1) * d - 1) // s + 1
            for n, p, e, k, d, s in zip(
                self.size,
                self.padding,
                self.end,
                self.kernel,
                self.dilation,
                self.stride,
                strict=True,
            )
        )


def pair(low: int, high: int) -> st.SearchStrategy[Pair]:
    return st.tuples(st.integers(low, high), st.integers(low, high))


@st.composite
def window(draw, max_batch: int = 2, max_dilation: int = 3, pooling: bool = False) -> Window:
    """A window with at least one output; a pooling window always meets the image."""
    kernel = draw(st.one_of(pair(1, 5), st.sampled_from([(1, 1), (3, 3), (1, 3)])))
    limit = tuple(k - 1 for k in kernel) if pooling else (3, 3)
    padding, end = (tuple(draw(st.integers(0, m)) for m in limit) for _ in range(2))
    dilation = (
        draw(st.one_of(st.just((1, 1)), pair(1, max_dilation))) if max_dilation > 1 else (1, 1)
    )
    smallest = tuple(
        max((k - 1) * d + 1 - p - e, 1)
        for k, d, p, e in zip(kernel, dilation, padding, end, strict=True)
    )
    size = tuple(draw(st.integers(low, low + 7)) for low in smallest)
    return Window(
        draw(st.integers(1, max_batch)), size, kernel, draw(pair(1, 3)), padding, end, dilation
    )


def generator() -> st.SearchStrategy[np.random.Generator]:
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def codes(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random int8 codes; one tensor in four holds only the extremes."""
    if rng.integers(4) == 0:
        return rng.choice(np.array([-128, 127], np.int8), shape)
    return rng.integers(-128, 128, shape, dtype=np.int8)


def weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return np.maximum(codes(rng, *shape), -127)


def scales(rng: np.random.Generator, channels: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers and shifts for accumulators of about `reach`; half are powers of two (ties)."""
    real = 100 / reach * 2 ** rng.uniform(-2, 2, channels)
    mantissa, shift = np.frexp(real)
    multiplier = np.minimum(np.round(mantissa * 2**31), 2**31 - 1).astype(np.int64)
    multiplier[rng.random(channels) < 0.5] = 1 << 30
    return multiplier, shift.astype(np.int64)


def clamp_range(rng: np.random.Generator) -> tuple[int, int]:
    low, high = sorted(rng.integers(-128, 128, 2).tolist())
    return (low, high) if rng.integers(3) == 0 else (-128, 127)
