"""Kernels on int16 codes with the DSP extension and with MVE.

Here is which of them layers get; tests/sanitized compares their bytes, on layers made here too.
"""

from dataclasses import replace

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.fast.oracle import clip, instances, normal
from toolchain.board import Isa
from toolchain.ir import Array, DType, Example, Graph, Kernel, Site, Target
from toolchain.ops._windows import Window
from toolchain.ops.wide.elementwise import Int16Add
from toolchain.ops.wide.layers import Int16Conv2D, Int16DepthwiseConv2D, Int16FullyConnected

_LARGE = 2.0**15
"""Such biases leave 32 bits in steps of the products."""


def _bias(rng: np.random.Generator, channels: int) -> Array:
    gain = np.float32(_LARGE if rng.random() < 0.4 else 1.0)
    return normal(rng, channels) * gain


def pointwise(rng: np.random.Generator) -> Example:
    """1 x 1, rows of fewer and of more codes than whole vectors have."""
    depth, channels = int(rng.integers(1, 150)), int(rng.integers(1, 14))
    stride = (2, 1) if depth % 8 == 0 else (1, 1)
    shape = (1, int(rng.integers(1, 6)), int(rng.integers(1, 6)), depth)
    return Example(
        Int16Conv2D("pointwise", ("x", "w", "b"), ("y",), Window((1, 1), stride), *clip(rng)),
        {"x": shape},
        {"w": normal(rng, channels, 1, 1, depth), "b": _bias(rng, channels)},
    )


def windows(rng: np.random.Generator) -> Example:
    """Windows that leave the image, runs of odd length."""
    kernel = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    depth, channels = int(rng.integers(1, 20)), int(rng.integers(1, 14))
    pads = tuple(int(rng.integers(0, k)) for k in (*kernel, *kernel))
    dilation = (int(rng.integers(1, 3)), int(rng.integers(1, 3)))
    window = Window(kernel, (int(rng.integers(1, 3)), int(rng.integers(1, 3))), pads, dilation)
    extent = [int(rng.integers((k - 1) * d + 1, 10)) for k, d in zip(kernel, dilation, strict=True)]
    return Example(
        Int16Conv2D("conv", ("x", "w", "b"), ("y",), window, *clip(rng)),
        {"x": (1, *extent, depth)},
        {"w": normal(rng, channels, *kernel, depth), "b": _bias(rng, channels)},
    )


def images(rng: np.random.Generator) -> Example:
    """Several, whose windows follow one another in pairs."""
    made = windows(rng)
    return replace(made, shapes={"x": (int(rng.integers(2, 4)), *made.shapes["x"][1:])})


def dense(rng: np.random.Generator) -> Example:
    """A few rows; some so deep that sums leave 32 bits."""
    depth = int(rng.integers(600, 1300)) if rng.random() < 0.3 else int(rng.integers(1, 150))
    channels, rows = int(rng.integers(1, 14)), int(rng.integers(1, 4))
    weights = normal(rng, channels, depth)
    return Example(
        Int16FullyConnected("dense", ("x", "w", "b"), ("y",), *clip(rng)),
        {"x": (1, depth) if rows == 1 else (1, rows, depth)},
        {"w": np.sign(weights) if depth > 500 else weights, "b": _bias(rng, channels)},
    )


def depthwise(rng: np.random.Generator) -> Example:
    """3 x 3 as in most nets."""
    pads = tuple(int(n) for n in rng.integers(0, 2, 4))
    channels = int(rng.integers(1, 20))
    extent = [int(rng.integers(3 - pads[i] - pads[i + 2], 12)) for i in range(2)]
    window = Window((3, 3), pads=pads)
    return Example(
        Int16DepthwiseConv2D("depthwise", ("x", "w", "b"), ("y",), window, *clip(rng)),
        {"x": (1, *(max(n, 1) for n in extent), channels)},
        {"w": normal(rng, 1, 3, 3, channels), "b": normal(rng, channels)},
    )


def add(rng: np.random.Generator) -> Example:
    """Two tensors of one shape, or one with itself: the scales are equal then."""
    shape = (1, *(int(n) for n in rng.integers(1, 9, 3)))
    names = ("a", "a") if rng.random() < 0.2 else ("a", "b")
    op = Int16Add("add", names, ("y",), *(clip(rng) if rng.random() < 0.6 else (0.0, None)))
    return Example(op, dict.fromkeys(names, shape))


ONE_IMAGE = (pointwise, windows, dense, depthwise)
MAKERS = (*ONE_IMAGE, images, add)


def _kernels(isa: Isa, graph: Graph) -> list[Kernel]:
    site = Site(graph.ops[0], graph.types, graph.constants, Target(isa))
    return [kernel for kernel in graph.ops[0].kernels if kernel.serves(site)]


@pytest.mark.parametrize("isa", [Isa.DSP, Isa.MVE])
@pytest.mark.parametrize("make", ONE_IMAGE, ids=lambda make: make.__name__)
def test_a_kernel_of_its_own_is_preferred_for_every_layer(isa: Isa, make) -> None:
    graphs, _ = instances(make, range(30))
    for graph in graphs:
        assert _kernels(isa, graph)[0].isas == {isa}


@pytest.mark.parametrize("isa", [Isa.DSP, Isa.MVE])
def test_sums_of_64_bits_are_left_to_kernels_for_them(isa: Isa) -> None:
    """They round in another way."""
    graphs, _ = instances(pointwise, range(30))
    widths = set()
    for graph in graphs:
        wide = graph.types[graph.ops[0].inputs[2]].dtype is DType.INT64
        widths.add(wide)
        assert ("wide" in _kernels(isa, graph)[0].name) == wide
    assert widths == {False, True}


def test_a_channel_without_output_takes_no_part() -> None:
    """Its multiplier is 0: whatever its weights are, its sums must be 0 for the short form."""
    (graph,), _ = instances(dense, [3])
    op = graph.ops[0]
    scales = list(graph.types[op.inputs[1]].q.scales)
    scales[0] = 1e-30
    weights = graph.types[op.inputs[1]]
    quant = replace(weights.q, scales=tuple(scales))
    types = {**graph.types, op.inputs[1]: replace(weights, quant=quant)}
    site = Site(op, types, graph.constants, Target(Isa.DSP))
    (kernel,) = [k for k in op.kernels if k.name == "glue_conv_s16_dsp"]
    assert kernel.pack is not None
    stream = kernel.pack(site)["stream"]
    steps = kernel.facts(site)["steps"]
    words = stream[4 : 4 + 2 * steps : 2].copy().view(np.int8).reshape(-1, 4)
    assert stream[0] == 0
    assert not words[:, [0, 2]].any()
    assert words[:, [1, 3]].any()
