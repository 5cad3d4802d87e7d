"""Convolutions and fully connected layers with MVE: C forms on the host, both in the emulator."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.fast.mve import TARGET, run_layers
from tests.fast.oracle import check_on_host
from toolchain.ir import Example, Site
from toolchain.ops._examples import normal, size
from toolchain.ops._windows import Window
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.fast import mve_conv
from toolchain.ops.fast.epilogue import requantisation
from toolchain.ops.fast.mve_conv import Form
from toolchain.ops.fully_connected import FullyConnected

pytestmark = pytest.mark.usefixtures("in_order_of_preference")

CLIPS = [(None, None), (0.0, None), (0.0, None), (0.0, 6.0), (-0.3, 0.4), (0.0, 0.2)]


def _weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """In half of the layers their sizes differ by channel, for all shifts; or one is dead."""
    weights = normal(rng, *shape)
    if rng.random() < 0.5:
        sizes = 10 ** rng.uniform(-2, 1.5, shape[0])
        weights *= sizes.astype(np.float32).reshape(-1, *(1 for _ in shape[1:]))
    if rng.random() < 0.1:
        weights[-1] = 0
    return weights


def _layer(
    rng: np.random.Generator, window: Window, shape: tuple[int, int, int], outputs: int
) -> Example:
    low, high = CLIPS[rng.integers(len(CLIPS))]
    return Example(
        Conv2D("conv", ("x", "w", "b"), ("y",), window, low, high),
        {"x": (1, *shape)},
        {
            "w": _weights(rng, outputs, *window.kernel, shape[2]),
            "b": normal(rng, outputs) * 10 ** rng.uniform(-2, 1),
        },
    )


def _pads(rng: np.random.Generator, kernel: tuple[int, int]) -> tuple[int, int, int, int]:
    top, left, bottom, right = (int(rng.integers(0, k)) for k in kernel * 2)
    return top, left, bottom, right


def _pointwise(rng: np.random.Generator) -> Example:
    """All depths up to three times round the straight line of steps; few rows and many."""
    stride = (1, 1) if rng.random() < 0.7 else (size(rng, 1, 3), size(rng, 1, 3))
    depth = int(rng.choice([8, 16, 32, 48, 64, 128, 144])) if rng.random() < 0.6 else 0
    shape = (size(rng, 1, 9), size(rng, 1, 9), depth or size(rng, 1, 170))
    return _layer(rng, Window((1, 1), stride), shape, size(rng, 1, 21))


def _columns(rng: np.random.Generator) -> Example:
    """What the kernel for 3 x 3 is for."""
    pads = tuple(size(rng, 0, 3) for _ in range(4))
    window = Window((3, 3), (1, 1), (pads[0], pads[1], pads[2], pads[3]))
    shape = (size(rng, 3, 9), size(rng, 4, 13), int(rng.choice([16, 32, 48, 64])))
    return _layer(rng, window, shape, 2 * size(rng, 1, 9))


def _columns_in_place(rng: np.random.Generator) -> Example:
    """The same where it may work in place."""
    channels = int(rng.choice([16, 32]))
    shape = (size(rng, 3, 9), 4 * size(rng, 1, 4), channels)
    return _layer(rng, Window((3, 3), (1, 1), (1, 1, 1, 1)), shape, channels)


def _many_rows(rng: np.random.Generator) -> Example:
    """Rows enough for blocks."""
    shape = (size(rng, 16, 20), size(rng, 17, 21), int(rng.choice([3, 8, 15, 16, 32])))
    return _layer(rng, Window((1, 1)), shape, size(rng, 1, 40))


def _windows(rng: np.random.Generator) -> Example:
    """Any geometry, also windows that lie outside the image."""
    kernel = (size(rng, 1, 5), size(rng, 1, 5))
    dilation = (1, 1) if rng.random() < 0.6 else (size(rng, 1, 3), size(rng, 1, 3))
    stride = (size(rng, 1, 3), size(rng, 1, 3))
    pads = _pads(rng, (dilation[0] * kernel[0], dilation[1] * kernel[1]))
    height, width = (d * (k - 1) + size(rng, 1, 9) for d, k in zip(dilation, kernel, strict=True))
    return _layer(
        rng,
        Window(kernel, stride, pads, dilation),
        (height, width, size(rng, 1, 20)),
        size(rng, 1, 14),
    )


def _first_layer(rng: np.random.Generator) -> Example:
    """One to four input channels, images of many windows."""
    kernel = [(3, 3), (3, 3), (5, 2), (10, 4), (1, 9), (4, 2)][rng.integers(6)]
    stride = (size(rng, 1, 2), size(rng, 1, 2))
    shape = (kernel[0] + size(rng, 0, 12), kernel[1] + size(rng, 0, 25), size(rng, 1, 3))
    return _layer(rng, Window(kernel, stride, _pads(rng, kernel)), shape, size(rng, 1, 18))


def _odd_row(rng: np.random.Generator) -> Example:
    """One short row of outputs, of which pairs leave one over."""
    kernel = (1, 1) if rng.random() < 0.7 else (2, 3)
    shape = (kernel[0], 2 * size(rng, 1, 6) + kernel[1], size(rng, 1, 170))
    return _layer(rng, Window(kernel), shape, size(rng, 1, 21))


def _dense(rng: np.random.Generator) -> Example:
    rows = 1 if rng.random() < 0.7 else size(rng, 2, 9)
    depth, outputs = size(rng, 1, 200), size(rng, 1, 40)
    low, high = CLIPS[rng.integers(len(CLIPS))]
    return Example(
        FullyConnected("dense", ("x", "w", "b"), ("y",), low, high),
        {"x": (1, depth) if rows == 1 else (1, rows, depth)},
        {"w": _weights(rng, outputs, depth), "b": normal(rng, outputs)},
    )


def _branch(site: Site) -> str:
    """Which way through the kernel: form of requantisation, long rows, left shifts."""
    taken = mve_conv.form_of(site)
    if taken is Form.GENERAL and int(requantisation(site)[1].max()) > 0:
        return "left"
    long = taken is Form.RECTIFIED and mve_conv.steps_of(site) > 8
    return "long" if long else taken.name.lower()


ALL = {"rectified", "long", "signed", "left"}
LAYERS = {
    _pointwise: {"glue_pointwise_mve": ALL, "glue_pointwise_32_mve": {"rectified"}},
    _columns: {"glue_conv_3x3_mve": {"long", "signed"}, "glue_conv_mve": {"left"}},
    _windows: {"glue_conv_mve": ALL, "glue_conv_32_mve": {"rectified"}},
    _first_layer: {
        "glue_conv_mve": {"rectified", "signed", "left"},
        "glue_conv_32_mve": {"rectified"},
    },
    _odd_row: {"glue_pointwise_mve": ALL, "glue_conv_mve": {"signed", "left"}},
    _dense: {"glue_dense_mve": ALL, "glue_pointwise_mve": {"rectified", "signed"}},
}


@pytest.mark.emulator
@pytest.mark.parametrize("layer", LAYERS, ids=lambda f: f.__name__.strip("_"))
def test_layers_equal_their_oracles(layer, form: str, tmp_path: Path) -> None:
    taken = run_layers(layer, range(40), tmp_path / "project")
    seen = Counter((choice.kernel.name, _branch(site)) for site, choice in taken)
    for kernel, branches in LAYERS[layer].items():
        assert branches <= {branch for name, branch in seen if name == kernel}, seen


@pytest.mark.parametrize("layer", LAYERS, ids=lambda f: f.__name__.strip("_"))
def test_c_forms_equal_their_oracles_on_the_host(layer, tmp_path: Path) -> None:
    check_on_host(layer, range(100, 140), TARGET, tmp_path, extreme_weights=True)
