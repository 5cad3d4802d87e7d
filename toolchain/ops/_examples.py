"""Random parts for the operators' example instances."""

import numpy as np

from toolchain.ir import Array
from toolchain.ops._windows import Window


def size(rng: np.random.Generator, low: int = 1, high: int = 9) -> int:
    """A random dimension in [low, high]."""
    return int(rng.integers(low, high + 1))


def clip_bounds(rng: np.random.Generator) -> tuple[float | None, float | None]:
    """No activation, ReLU, ReLU6-like or a two-sided clip."""
    bounds: list[tuple[float | None, float | None]] = [
        (None, None),
        (0.0, None),
        (0.0, 1.5),
        (-0.5, 0.75),
    ]
    return bounds[int(rng.integers(len(bounds)))]


def random_window(rng: np.random.Generator, *, dilated: bool = True) -> tuple[Window, int, int]:
    """A window, and an input height and width on which it has at least one output."""
    kernel = (size(rng, 1, 4), size(rng, 1, 4))
    stride = (size(rng, 1, 3), size(rng, 1, 3))
    dilation = (size(rng, 1, 2), size(rng, 1, 2)) if dilated and rng.random() < 0.3 else (1, 1)
    if dilation != (1, 1):
        stride = (1, 1)
    pads = tuple(int(rng.integers(0, kernel[i % 2])) for i in range(4))
    window = Window(kernel, stride, (pads[0], pads[1], pads[2], pads[3]), dilation)
    height = dilation[0] * (kernel[0] - 1) + 1 + size(rng, 0, 6)
    width = dilation[1] * (kernel[1] - 1) + 1 + size(rng, 0, 6)
    return window, height, width


def normal(rng: np.random.Generator, *shape: int) -> Array:
    """Standard normal float32 values."""
    return rng.standard_normal(shape).astype(np.float32)


def broadcast_shapes(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes of one rank from 2 to 5: alike, or with axes of size 1 in either."""
    result = (1, *(size(rng, 1, 7) for _ in range(int(rng.integers(1, 5)))))
    if rng.random() < 0.4:
        return result, result
    first, second = (tuple(n if rng.random() < 0.7 else 1 for n in result) for _ in range(2))
    return first, second
