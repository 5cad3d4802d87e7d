"""The small kernel for all layers of sums: the oracle's bytes on the host and emulated."""

from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.fast.oracle import Maker, check_in_emulator, check_on_host
from toolchain.board import Isa
from toolchain.ir import Example, Op, Site, Target
from toolchain.ops._windows import Window
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.fast import compact
from toolchain.ops.fast.narrow import EXTENT, STEP, is_narrow

OPERATORS = ("Conv2D", "DepthwiseConv2D", "GroupedConv2D", "FullyConnected")
BOARDS = {
    "M0+": "raspberry-pi-pico",
    "M3": "mps2-an385",
    "M4": "mps2-an386",
    "M55": "mps3-an547",
}


def _of(name: str) -> Maker:
    return Op.registry[name].example


def _rows(rng: np.random.Generator) -> Example:
    """A fully connected layer on several rows."""
    rows, depth, channels = (int(n) for n in rng.integers(1, (5, 40, 12)))
    op = Op.registry["FullyConnected"]("dense", ("x", "w", "b"), ("y",))
    weights = rng.standard_normal((channels, depth)).astype(np.float32)
    bias = rng.standard_normal(channels).astype(np.float32)
    return Example(op, {"x": (1, rows, depth)}, {"w": weights, "b": bias})


def _images(rng: np.random.Generator) -> Example:
    """A convolution of several images."""
    example = Conv2D.example(rng)
    _, height, width, channels = example.shapes["x"]
    return Example(example.op, {"x": (3, height, width, channels)}, example.constants)


MAKERS = {name: _of(name) for name in OPERATORS} | {"rows": _rows, "images": _images}


@pytest.fixture(autouse=True)
def only_the_small_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OPERATORS:
        monkeypatch.setattr(Op.registry[name], "kernels", compact.LAYER)


@pytest.mark.parametrize("name", MAKERS)
def test_bytes_on_the_host(name: str, tmp_path: Path) -> None:
    check_on_host(MAKERS[name], range(12), Target(Isa.DSP), tmp_path, extreme_weights=True)


@pytest.mark.emulator
@pytest.mark.parametrize("core", BOARDS)
def test_bytes_in_the_emulator(core: str, tmp_path: Path) -> None:
    def any_layer(rng: np.random.Generator) -> Example:
        return list(MAKERS.values())[int(rng.integers(len(MAKERS)))](rng)

    check_in_emulator(any_layer, range(24), BOARDS[core], tmp_path / "p", extreme_weights=True)


def _site(shape: tuple[int, ...], window: Window) -> Site:
    types = {"x": shape, "w": (1, *window.kernel, shape[3])}
    op = Conv2D("conv", ("x", "w", "b"), ("y",), window)
    outputs = (shape[0], *window.output(shape[1:3]), 1)
    return _Site(op, types | {"y": outputs})  # type: ignore[return-value]


class _Site:
    """What is_narrow asks of a site."""

    def __init__(self, op: Conv2D, shapes: dict[str, tuple[int, ...]]) -> None:
        self.op, self._shapes = op, shapes

    def shape(self, name: str) -> tuple[int, ...]:
        return self._shapes[name]


@pytest.mark.parametrize(
    ("shape", "window", "narrow"),
    [
        ((1, EXTENT, 1, 1), Window((1, 1)), True),
        ((1, EXTENT + 1, 1, 1), Window((1, 1)), False),
        ((1, 1, 1, EXTENT + 1), Window((1, 1)), False),
        ((1, 999, 3, 1), Window((3, 3), (STEP, 1)), True),
        ((1, 999, 3, 1), Window((3, 3), (STEP + 1, 1)), False),
        ((1, 999, 3, 1), Window((3, 3), pads=(0, STEP + 1, 0, 0)), False),
        ((1, 999, 3, 1), Window((3, 3), dilation=(STEP + 1, 1)), False),
        ((1, 300, 300, 1), Window((256, 256)), False),
    ],
    ids=str,
)
def test_numbers_that_fit_the_descriptor(
    shape: tuple[int, ...], window: Window, narrow: bool
) -> None:
    assert is_narrow(_site(shape, window)) == narrow
