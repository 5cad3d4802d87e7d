"""Depthwise convolutions without SIMD, against their oracles."""

from pathlib import Path

import numpy as np
import pytest

from tests.fast.oracle import (
    check_in_emulator,
    check_on_host,
    clip,
    depthwise_row,
    leave_fast_kernels,
    normal,
)
from toolchain.board import Isa
from toolchain.ir import Example, Target
from toolchain.ops._windows import Window
from toolchain.ops.depthwise import DepthwiseConv2D


def _three_by_three(rng: np.random.Generator) -> Example:
    stride = int(rng.integers(1, 3))
    pads = tuple(int(p) for p in rng.integers(0, 2, 4))
    window = Window((3, 3), (stride, stride), pads)
    return _layer(rng, window, (int(rng.integers(3, 12)), int(rng.integers(3, 12))), 1)


def _any(rng: np.random.Generator) -> Example:
    kernel = [(1, 1), (3, 3), (5, 5), (1, 4), (2, 3)][rng.integers(5)]
    stride = [(1, 1), (2, 2), (1, 2), (3, 1)][rng.integers(4)]
    dilation = [(1, 1), (1, 1), (2, 1), (1, 2)][rng.integers(4)]
    pads = tuple(int(rng.integers(0, min(2, k - 1) + 1)) for k in kernel * 2)
    height, width = (
        int(rng.integers(1, 9)) + d * (k - 1) for k, d in zip(kernel, dilation, strict=True)
    )
    window = Window(kernel, stride, pads, dilation)
    return _layer(rng, window, (height, width), int(rng.integers(1, 4)))


def _layer(
    rng: np.random.Generator, window: Window, size: tuple[int, int], multiplier: int
) -> Example:
    channels = int(rng.choice([1, 2, 3, 4, 7, 8]))
    outputs = channels * multiplier
    weights = normal(rng, 1, *window.kernel, outputs) * 10 ** rng.uniform(-3, 1, outputs)
    return Example(
        DepthwiseConv2D("depthwise", ("x", "w", "b"), ("y",), window, *clip(rng)),
        {"x": (1, *size, channels)},
        {
            "w": weights.astype(np.float32),
            "b": normal(rng, outputs) * 10 ** rng.uniform(-2, 1),
        },
    )


MAKERS = {"3x3": _three_by_three, "row": depthwise_row, "any": _any}
KERNELS = {
    "M3": {"glue_depthwise_row_scalar", "glue_depthwise_3x3_scalar", "glue_depthwise_scalar"},
    "M0+": {"glue_depthwise_3x3_baseline", "glue_depthwise_baseline"},
}
BOARDS = {"M3": "mps2-an385", "M0+": "raspberry-pi-pico"}


@pytest.fixture(autouse=True)
def _fast_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_fast_kernels(monkeypatch, DepthwiseConv2D)


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
        MAKERS[what], range(60, 110), BOARDS[core], tmp_path / "p", extreme_weights=True
    )
    assert kernels <= KERNELS[core]
    if (what, core) == ("row", "M3"):
        assert kernels == {"glue_depthwise_row_scalar"}
