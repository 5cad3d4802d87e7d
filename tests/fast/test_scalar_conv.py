"""Convolutions and fully connected layers without SIMD, against their oracles."""

from pathlib import Path

import numpy as np
import pytest

from tests.fast.oracle import check_in_emulator, check_on_host, clip, leave_fast_kernels, normal
from toolchain.board import Isa
from toolchain.ir import Example, Target
from toolchain.ops._windows import Window
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.fully_connected import FullyConnected


def _convolution(rng: np.random.Generator) -> Example:
    kernel = [(1, 1), (1, 1), (3, 3), (3, 3), (1, 4), (5, 2), (2, 3)][rng.integers(7)]
    stride = [(1, 1), (1, 1), (2, 2), (1, 2), (3, 1)][rng.integers(5)]
    dilation = [(1, 1), (1, 1), (1, 1), (2, 1), (1, 2), (2, 3)][rng.integers(6)]
    pads = tuple(int(rng.integers(0, min(2, k - 1) + 1)) for k in kernel * 2)
    window = Window(kernel, stride, pads, dilation)
    height, width = (
        int(rng.integers(1, 9)) + d * (k - 1) for k, d in zip(kernel, dilation, strict=True)
    )
    inputs = int(rng.choice([1, 2, 3, 4, 5, 8, 16, 17, 32, 64]))
    outputs = int(rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 11, 16]))
    return Example(
        Conv2D("conv", ("x", "w", "b"), ("y",), window, *clip(rng)),
        {"x": (1, height, width, inputs)},
        {
            "w": normal(rng, outputs, *kernel, inputs) * 10 ** rng.uniform(-3, 1),
            "b": normal(rng, outputs) * 10 ** rng.uniform(-2, 1),
        },
    )


def _odd_row(rng: np.random.Generator) -> Example:
    """One row of outputs, whose last pixel is left over by pairs."""
    kernel = [(1, 1), (1, 1), (3, 3), (2, 3)][rng.integers(4)]
    window = Window(kernel, pads=(0, kernel[1] // 2, 0, kernel[1] // 2))
    width, inputs, outputs = 2 * rng.integers(1, 5) + 1, rng.integers(1, 36), rng.integers(1, 14)
    return Example(
        Conv2D("conv", ("x", "w", "b"), ("y",), window, *clip(rng)),
        {"x": (1, kernel[0], int(width), int(inputs))},
        {
            "w": normal(rng, outputs, *kernel, inputs) * 10 ** rng.uniform(-3, 1),
            "b": normal(rng, outputs) * 10 ** rng.uniform(-2, 1),
        },
    )


def _dense(rng: np.random.Generator) -> Example:
    depth = int(rng.choice([1, 3, 7, 8, 9, 16, 40, 64, 100, 700]))
    outputs = int(rng.choice([1, 2, 7, 8, 9, 12, 16, 23]))
    rows = int(rng.choice([1, 1, 2, 3]))
    return Example(
        FullyConnected("dense", ("x", "w", "b"), ("y",), *clip(rng)),
        {"x": (1, depth) if rows == 1 else (1, rows, depth)},
        {
            "w": normal(rng, outputs, depth) * 10 ** rng.uniform(-3, 1),
            "b": normal(rng, outputs) * 10 ** rng.uniform(-2, 1),
        },
    )


MAKERS = {"convolution": _convolution, "odd row": _odd_row, "dense": _dense}
KERNELS = {
    "M3": {"glue_conv_scalar", "glue_dense_scalar"},
    "M0+": {"glue_conv_baseline", "glue_dense_baseline"},
}
BOARDS = {"M3": "mps2-an385", "M0+": "raspberry-pi-pico"}


@pytest.fixture(autouse=True)
def _fast_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_fast_kernels(monkeypatch, Conv2D, FullyConnected)


@pytest.mark.parametrize("isa", [Isa.SCALAR, Isa.BASELINE], ids=str)
@pytest.mark.parametrize("what", MAKERS)
@pytest.mark.parametrize("first", [0, 30])
def test_c_forms_equal_their_oracles(what: str, isa: Isa, first: int, tmp_path: Path) -> None:
    check_on_host(
        MAKERS[what], range(first, first + 30), Target(isa), tmp_path, extreme_weights=True
    )


@pytest.mark.emulator
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("what", MAKERS)
def test_firmware_equals_its_oracle(what: str, core: str, tmp_path: Path) -> None:
    kernels = check_in_emulator(
        MAKERS[what], range(60, 90), BOARDS[core], tmp_path / "p", extreme_weights=True
    )
    assert kernels <= KERNELS[core]
