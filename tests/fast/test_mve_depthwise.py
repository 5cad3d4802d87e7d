"""Depthwise convolutions with MVE, in the emulator."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.fast.mve import run_layers
from toolchain.ir import Example, Site
from toolchain.ops._examples import clip_bounds, normal, size
from toolchain.ops._windows import Window
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fast import mve_strips as strips
from toolchain.ops.fast.epilogue import requantisation
from toolchain.select import Choice

pytestmark = [pytest.mark.emulator]


def _example(
    rng: np.random.Generator,
    window: Window,
    shape: tuple[int, int, int, int],
    multiplier: int = 1,
) -> Example:
    """Random weights; in half of the layers their sizes differ by channel, for all shifts."""
    low, high = clip_bounds(rng)
    outputs = shape[3] * multiplier
    weights = normal(rng, 1, *window.kernel, outputs)
    if rng.random() < 0.5:
        weights *= (10 ** rng.uniform(-2, 1.5, outputs)).astype(np.float32)
    return Example(
        DepthwiseConv2D("depthwise", ("x", "w", "b"), ("y",), window, low, high),
        {"x": shape},
        {"w": weights, "b": normal(rng, outputs)},
    )


def _on_strips(rng: np.random.Generator) -> Example:
    """What the strip kernels are for: kernels up to 3x3, both strides."""
    kernel = (3, 3) if rng.random() < 0.7 else (size(rng, 1, 3), size(rng, 1, 3))
    stride = size(rng, 1, 2)
    top, left, bottom, right = (int(rng.integers(0, kernel[i % 2])) for i in range(4))
    height, width = (k + size(rng, 0, 20) for k in kernel)
    window = Window(kernel, (stride, stride), (top, left, bottom, right))
    return _example(rng, window, (size(rng, 1, 2), height, width, size(rng, 1, 40)))


def _in_place(rng: np.random.Generator) -> Example:
    """Maps that keep their shape."""
    kernel = (int(rng.choice([1, 3, 3])), int(rng.choice([1, 3, 3])))
    before = [k // 2 for k in kernel]
    window = Window(kernel, (1, 1), (*before, *before))
    shape = (size(rng, 1, 2), size(rng, 4, 20), size(rng, 4, 20), int(rng.choice([8, 16, 20, 40])))
    return _example(rng, window, shape)


def _on_long_strips(rng: np.random.Generator) -> Example:
    """Maps of one line, and maps whose strips are cut."""
    stride = size(rng, 1, 2)
    if rng.random() < 0.5:
        kernel, shape = (1, 3), (1, 1, size(rng, 8, 60), size(rng, 1, 20))
    else:
        kernel, shape = (3, 3), (1, size(rng, 3, 6), size(rng, 50, 70), size(rng, 1, 5))
    if rng.random() < 0.5:
        kernel, shape = kernel[::-1], (1, shape[2], shape[1], shape[3])
    return _example(rng, Window(kernel, (stride, stride)), shape)


def _on_narrow_strips(rng: np.random.Generator) -> Example:
    """8 channels, an even width."""
    top, left, bottom, right = (int(rng.integers(0, 3)) for _ in range(4))
    shape = (size(rng, 1, 2), size(rng, 4, 12), 2 * size(rng, 3, 25), 8)
    return _example(rng, Window((3, 3), (1, 1), (top, left, bottom, right)), shape)


def _general(rng: np.random.Generator) -> Example:
    """Anything else: large kernels, strides, dilations, channel multipliers."""
    kernel = (size(rng, 1, 7), size(rng, 1, 7))
    stride = (size(rng, 1, 4), size(rng, 1, 4))
    dilation = (size(rng, 1, 3), size(rng, 1, 3))
    pads = [int(rng.integers(0, dilation[i % 2] * kernel[i % 2])) for i in range(4)]
    window = Window(kernel, stride, (pads[0], pads[1], pads[2], pads[3]), dilation)
    height, width = (d * (k - 1) + size(rng, 1, 8) for d, k in zip(dilation, kernel, strict=True))
    multiplier = size(rng, 2, 5) if rng.random() < 0.3 else 1
    return _example(rng, window, (size(rng, 1, 2), height, width, size(rng, 1, 40)), multiplier)


def _one_row(rng: np.random.Generator) -> Example:
    """One row of 4 to 8 outputs; the first or the last row of the kernel may be padding."""
    top, bottom = ((0, 0), (1, 0), (0, 1))[int(rng.integers(3))]
    left, right = (int(n) for n in rng.integers(0, 2, 2))
    outputs, channels = size(rng, 4, 8), 4 * size(rng, 1, 11)
    shape = (1, 3 - top - bottom, outputs + 2 - left - right, channels)
    window = Window((3, 3), pads=(top, left, bottom, right))
    return Example(
        DepthwiseConv2D("depthwise", ("x", "w", "b"), ("y",), window, 0.0),
        {"x": shape},
        {"w": normal(rng, 1, 3, 3, channels), "b": normal(rng, channels)},
    )


def _one_line(rng: np.random.Generator) -> Example:
    """One line of 8 to 30 outputs with stride 2, along either axis; any of the pads."""
    before, after = ((0, 0), (1, 0), (0, 1))[int(rng.integers(3))]
    start, end = (int(n) for n in rng.integers(0, 2, 2))
    length = 2 * size(rng, 8, 30) + 1 - start - end
    pads, shape = (before, start, after, end), (1, 3 - before - after, length, size(rng, 1, 40))
    if rng.random() < 0.3:
        pads, shape = (start, before, end, after), (1, shape[2], shape[1], shape[3])
    return _example(rng, Window((3, 3), (2, 2), pads), shape)


MAKERS = (_on_strips, _on_long_strips, _on_narrow_strips, _one_row, _one_line, _general)


def _form(kernel: str) -> strips.Form:
    if "stride2" not in kernel:
        return strips.STRIDE1
    return strips.STRIDE2_LINE if "line" in kernel else strips.STRIDE2


def _facts(site: Site, kernel: str) -> dict[str, bool]:
    """What is special about a layer on strips."""
    kind = _form(kernel)
    cut = strips.cut(site, kind)
    assert cut is not None
    printed = strips.facts(site, kind, cut)
    return {
        "general": "general" in printed["form"],
        "left": bool((requantisation(site)[1] > 0).any()),
        "transposed": cut.transposed,
        "several": cut.span < cut.along.output,
        "odd": cut.across.output % 2 == 1,
        "single": printed["single"] != "NULL",
        "narrow": cut.narrow,
    }


def _totals(layers: list[tuple[Site, Choice]]) -> Counter[str]:
    """How many layers on strips have each speciality; "all": how many there are."""
    taken = [(s, c.kernel.name) for s, c in layers if "3x3" in c.kernel.name]
    totals = Counter({"all": len(taken)})
    for site, name in taken:
        totals.update(fact for fact, holds in _facts(site, name).items() if holds)
    return totals


@pytest.mark.usefixtures("form")
def test_strips_equal_their_oracle(tmp_path: Path) -> None:
    layers = run_layers(_on_strips, range(60), tmp_path / "project")
    assert sum("stride2" in choice.kernel.name for _, choice in layers) >= 15
    totals = _totals(layers)
    assert totals["all"] >= 45
    for fact in ("general", "left", "transposed", "odd"):
        assert 10 <= totals[fact] <= totals["all"] - 10, fact
    assert totals["single"] >= 5


@pytest.mark.usefixtures("form")
def test_long_strips_equal_their_oracle(tmp_path: Path) -> None:
    layers = run_layers(_on_long_strips, range(40), tmp_path / "project")
    assert _totals(layers)["several"] >= 5
    one_line = [s for s, c in layers if "3x3" in c.kernel.name and 1 in s.shape(s.op.y)[1:3]]
    assert len(one_line) >= 5


@pytest.mark.usefixtures("form")
def test_narrow_strips_equal_their_oracle(tmp_path: Path) -> None:
    totals = _totals(run_layers(_on_narrow_strips, range(30), tmp_path / "project"))
    assert totals["narrow"] >= 10


@pytest.mark.usefixtures("form")
def test_one_row_equals_its_oracle(tmp_path: Path) -> None:
    layers = run_layers(_one_row, range(40), tmp_path / "project")
    taken = [site.shape(site.op.y)[2] for site, c in layers if c.kernel.name.endswith("row_mve")]
    assert len(taken) >= 30
    assert set(taken) == {4, 5, 6, 7, 8}


@pytest.mark.usefixtures("form")
def test_one_line_with_stride_2_equals_its_oracle(tmp_path: Path) -> None:
    layers = run_layers(_one_line, range(40), tmp_path / "project")
    lines = [(site, c) for site, c in layers if c.kernel.name.endswith("stride2_line_s8_mve")]
    assert len(lines) >= 35
    totals = _totals(lines)
    for fact in ("general", "transposed"):
        assert 8 <= totals[fact] <= totals["all"] - 8, fact
    assert totals["several"] >= 5


def test_any_geometry_equals_its_oracle(tmp_path: Path) -> None:
    layers = run_layers(_general, range(60), tmp_path / "project")
    names = Counter(choice.kernel.name for _, choice in layers)
    assert names["glue_depthwise_s8_mve"] >= 50
