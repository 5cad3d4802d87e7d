"""Element-wise kernels and pools with MVE, in the emulator."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.fast.mve import run_layers
from toolchain.ir import Example
from toolchain.ops._examples import clip_bounds, random_window, size
from toolchain.ops._windows import Window
from toolchain.ops.add import Add
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.max_pool import MaxPool
from toolchain.ops.mul import Mul

pytestmark = [pytest.mark.emulator]


def _shape(rng: np.random.Generator) -> tuple[int, ...]:
    return (1, size(rng, 1, 5), size(rng, 1, 7), size(rng, 1, 20))


def _operands(rng: np.random.Generator) -> dict[str, tuple[int, ...]]:
    """Two tensors of one shape; in a third of the cases one of them has one value per channel."""
    shape = (*_shape(rng)[:3], size(rng, 2, 20))
    shapes = [shape, shape]
    if rng.random() < 0.3:
        shapes[int(rng.integers(2))] = (1, 1, 1, shape[3])
    return dict(zip(("a", "b"), shapes, strict=True))


def _add(rng: np.random.Generator) -> Example:
    """Two tensors, or one with itself: the scales are equal then."""
    low, high = clip_bounds(rng) if rng.random() < 0.5 else (0.0, None)
    if rng.random() < 0.2:
        return Example(Add("add", ("a", "a"), ("y",), low, high), {"a": _shape(rng)})
    return Example(Add("add", ("a", "b"), ("y",), low, high), _operands(rng))


def _mul(rng: np.random.Generator) -> Example:
    return Example(Mul("mul", ("a", "b"), ("y",), *clip_bounds(rng)), _operands(rng))


def _pooled(rng: np.random.Generator) -> tuple[Window, tuple[int, ...]]:
    """A window and an input; now and then the whole map."""
    window, height, width = random_window(rng, dilated=False)
    if rng.random() < 0.3:
        height, width = size(rng, 1, 30), size(rng, 1, 30)
        window = Window((height, width))
    return window, (size(rng, 1, 2), height, width, size(rng, 1, 40))


def _average(rng: np.random.Generator) -> Example:
    window, shape = _pooled(rng)
    pool = AveragePool("pool", ("x",), ("y",), window, bool(rng.random() < 0.5), *clip_bounds(rng))
    return Example(pool, {"x": shape})


def _maximum(rng: np.random.Generator) -> Example:
    window, shape = _pooled(rng)
    return Example(MaxPool("pool", ("x",), ("y",), window, *clip_bounds(rng)), {"x": shape})


MAKERS = (_add, _mul, _average, _maximum)


def test_sums_equal_their_oracle(tmp_path: Path) -> None:
    layers = run_layers(_add, range(60), tmp_path / "project")
    names = Counter(choice.kernel.name for _, choice in layers)
    assert min(names[f"glue_add_{form}_s8_mve"] for form in ("short", "rectified", "clamped")) >= 6


def test_products_equal_their_oracle(tmp_path: Path) -> None:
    layers = run_layers(_mul, range(40), tmp_path / "project")
    names = Counter(choice.kernel.name for _, choice in layers)
    assert names["glue_mul_s8_mve"] >= 20


def test_means_equal_their_oracle(tmp_path: Path) -> None:
    layers = run_layers(_average, range(60), tmp_path / "project")
    assert {choice.kernel.name for _, choice in layers} == {"glue_average_pool_s8_mve"}


def test_maxima_equal_their_oracle(tmp_path: Path) -> None:
    layers = run_layers(_maximum, range(60), tmp_path / "project")
    assert {choice.kernel.name for _, choice in layers} == {"glue_max_pool_s8_mve"}
