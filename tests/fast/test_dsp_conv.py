"""Convolutions and fully connected layers for the DSP extension: bytes equal to the oracle."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.firmware.test_operators import _compare, _prefixed
from tests.ops.host import HostModel, codes_of, example_graph, quantized, random_inputs
from toolchain.board import Isa
from toolchain.ir import Array, Example, Graph, Target
from toolchain.ir.execute import simulate
from toolchain.ops._windows import Window
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.select import select_kernels

TARGET = Target(Isa.DSP)
KERNELS = {"glue_conv_dsp", "glue_conv_wide_dsp", "glue_dense_dsp", "glue_dense_wide_dsp"}

# name: input height, width and channels, output channels, window, images when not 1
SHAPES = {
    "pointwise": (5, 5, 16, 8, Window((1, 1))),
    "pointwise, odd": (3, 3, 7, 5, Window((1, 1))),
    "pointwise, stride 2": (5, 6, 4, 6, Window((1, 1), (2, 2))),
    "3x3": (5, 4, 16, 8, Window((3, 3), (1, 1), (1, 1, 1, 1))),
    "3x3, one channel": (6, 5, 1, 3, Window((3, 3), (1, 1), (1, 1, 1, 1))),
    "3x3, three channels, stride 2": (9, 9, 3, 9, Window((3, 3), (2, 2), (0, 0, 1, 1))),
    "10x4": (12, 9, 1, 4, Window((10, 4), (2, 2), (4, 1, 5, 1))),
    "dilated": (9, 8, 5, 4, Window((3, 2), (1, 1), (2, 2, 2, 1), (2, 3))),
    "dilated rows": (9, 8, 4, 4, Window((3, 3), (1, 2), (2, 1, 2, 1), (2, 1))),
    "wider than the image": (2, 2, 4, 4, Window((5, 5), (1, 1), (2, 2, 2, 2))),
    "whole image": (4, 3, 5, 11, Window((4, 3))),
    "three images": (3, 3, 2, 4, Window((2, 2), (2, 2), (0, 1, 1, 0)), 3),
    "two images, pointwise": (1, 3, 8, 4, Window((1, 1)), 2),
    "three columns to a word": (4, 5, 1, 4, Window((3, 3), (1, 1), (1, 1, 1, 1))),
    "two pixels, long columns": (3, 2, 24, 4, Window((2, 2), (1, 1), (0, 0, 0, 1))),
    "row of five": (1, 5, 16, 8, Window((1, 1))),
    "row of seven, odd pairs": (1, 7, 5, 6, Window((1, 1))),
    "row of three, one pair": (1, 3, 2, 9, Window((1, 1))),
    "row of five, 3x3": (3, 5, 3, 5, Window((3, 3), (1, 1), (0, 1, 0, 1))),
}
SHORT = {"glue_conv_dsp", "glue_dense_dsp"}


def _conv(seed: int, shape: tuple, bounds: tuple[float | None, float | None]) -> Example:
    height, width, channels, outputs, window, images = (*shape, 1)[:6]
    rng = np.random.default_rng(seed)
    kernel = (outputs, *window.kernel, channels)
    return Example(
        Conv2D("conv", ("x", "w", "b"), ("y",), window, *bounds),
        {"x": (images, height, width, channels)},
        {
            "w": rng.standard_normal(kernel).astype(np.float32),
            "b": rng.standard_normal(outputs).astype(np.float32),
        },
    )


def _dense(seed: int, rows: int, depth: int, channels: int) -> Example:
    rng = np.random.default_rng(seed)
    return Example(
        FullyConnected("dense", ("x", "w", "b"), ("y",)),
        {"x": (1, depth) if rows == 1 else (1, rows, depth)},
        {
            "w": rng.standard_normal((channels, depth)).astype(np.float32),
            "b": rng.standard_normal(channels).astype(np.float32),
        },
    )


def _graph(example: Example, seed: int = 1) -> tuple[Graph, list[dict[str, Array]]]:
    plain, rng = example_graph(example), np.random.default_rng(seed)
    samples = [random_inputs(plain, rng) for _ in range(3)]
    return quantized(plain, samples), samples


def _with_weights(graph: Graph, codes: Array) -> Graph:
    name = graph.ops[0].inputs[1]
    return replace(graph, constants={**graph.constants, name: codes.astype(np.int8)})


def _check(graph: Graph, samples: list[dict[str, Array]], folder: Path) -> str:
    """Compare the host build with the oracle; returns the kernel."""
    rng = np.random.default_rng(5)
    shape = graph.types[graph.inputs[0]].shape
    model = HostModel(graph, TARGET, folder)
    everything = [codes_of(graph, s) for s in samples]
    everything.append({graph.inputs[0]: rng.integers(-128, 128, shape).astype(np.int8)})
    everything.append({graph.inputs[0]: np.full(shape, -128, np.int8)})
    for codes in everything:
        expected = simulate(graph, codes)
        for name, value in model.run(codes).items():
            np.testing.assert_array_equal(value, expected[name])
    return next(iter(select_kernels(graph, TARGET).values())).kernel.name


@pytest.mark.parametrize("bounds", [(None, None), (0.0, None), (-7.0, 5.0)], ids=str)
@pytest.mark.parametrize("name", SHAPES)
def test_convolutions(name: str, bounds: tuple, tmp_path: Path) -> None:
    graph, samples = _graph(_conv(3, SHAPES[name], bounds))
    assert _check(graph, samples, tmp_path) in SHORT


@pytest.mark.parametrize("size", [(1, 40, 16), (1, 33, 3), (1, 2, 9), (3, 10, 5), (2, 64, 12)])
def test_fully_connected(size: tuple[int, int, int], tmp_path: Path) -> None:
    graph, samples = _graph(_dense(4, *size))
    assert _check(graph, samples, tmp_path) in SHORT


def _extreme(graph: Graph) -> Graph:
    """Weights all over int8, among them -128 beside every kind of neighbour."""
    codes = graph.constants[graph.ops[0].inputs[1]]
    rng = np.random.default_rng(6)
    wild = rng.integers(-128, 128, codes.shape)
    return _with_weights(graph, np.where(rng.random(codes.shape) < 0.1, -128, wild))


@pytest.mark.parametrize("name", ["pointwise, odd", "3x3, one channel", "dilated", "whole image"])
def test_weights_of_minus_128(name: str, tmp_path: Path) -> None:
    graph, samples = _graph(_conv(3, SHAPES[name], (None, None)))
    assert _check(_extreme(graph), samples, tmp_path) in SHORT


def test_fully_connected_weights_of_minus_128(tmp_path: Path) -> None:
    graph, samples = _graph(_dense(4, 1, 50, 20))
    assert _check(_extreme(graph), samples, tmp_path) == "glue_dense_dsp"


def _large(example: Example) -> tuple[Graph, list[dict[str, Array]]]:
    """Weights of 127 only, whose sums leave 24 bits."""
    graph, samples = _graph(example)
    codes = graph.constants[graph.ops[0].inputs[1]]
    sign = np.where(np.arange(len(codes)) % 3 == 0, -127, 127)
    return _with_weights(
        graph, np.broadcast_to(sign[(..., *[None] * (codes.ndim - 1))], codes.shape)
    ), samples


def test_sums_of_more_than_24_bits(tmp_path: Path) -> None:
    wide, samples = _large(
        _conv(3, (3, 3, 100, 6, Window((3, 3), (1, 1), (1, 1, 1, 1))), (None, None))
    )
    assert _check(wide, samples, tmp_path) == "glue_conv_wide_dsp"


def test_fully_connected_sums_of_more_than_24_bits(tmp_path: Path) -> None:
    wide, samples = _large(_dense(4, 1, 1101, 11))
    assert _check(wide, samples, tmp_path) == "glue_dense_wide_dsp"


def test_left_shifts(tmp_path: Path) -> None:
    graph, samples = _graph(_conv(3, SHAPES["3x3"], (None, None)))
    y = graph.outputs[0]
    small = replace(graph.types[y].q, scales=(graph.types[y].q.scale / 2000,))
    graph = replace(graph, types={**graph.types, y: replace(graph.types[y], quant=small)})
    assert _check(graph, samples, tmp_path) == "glue_conv_wide_dsp"


def _every_kind() -> dict[str, tuple[Graph, list[dict[str, Array]]]]:
    """Graphs of both widths, all forms of the requantisation, all numbers of channels modulo 8."""
    every = {}
    for index, (name, shape) in enumerate(SHAPES.items()):
        bounds = [(None, None), (0.0, None), (-7.0, 5.0)][index % 3]
        every[name] = _graph(_conv(index, shape, bounds))
    for index in range(8):
        every[f"dense {index}"] = _graph(_dense(index, 1, 20 + 9 * index, 9 + index))
        every[f"rows {index}"] = _graph(_dense(index, 2 + index % 2, 20 + 9 * index, 5 + index))
    for depth in range(1, 21):
        shape = (1, 3, depth, 1 + depth % 9, Window((1, 1)))
        bounds = [(None, None), (0.0, None), (-7.0, 5.0)][depth % 3]
        every[f"row of three, {depth} deep"] = _graph(_conv(depth, shape, bounds))
    graph, samples = every["3x3, one channel"]
    every["extreme"] = _extreme(graph), samples
    graph, samples = every["dense 3"]
    every["extreme dense"] = _extreme(graph), samples
    pads = Window((3, 3), (1, 1), (1, 1, 1, 1))
    every["large"] = _large(_conv(3, (3, 3, 100, 6, pads), (None, None)))
    every["large dense"] = _large(_dense(4, 1, 1101, 11))
    return every


@pytest.mark.emulator
@pytest.mark.parametrize(
    ("board", "flags"),
    [("mps2-an386", ""), ("mps2-an505", ""), ("mps2-an386", "-DGLUE_NO_ASM")],
    ids=["M4", "M33", "C"],
)
def test_in_the_emulator(
    board: str, flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFLAGS", flags)
    monkeypatch.setenv("ASMFLAGS", flags)
    graphs, floats = [], []
    for index, (graph, samples) in enumerate(_every_kind().values()):
        stem = f"g{index}_"
        graphs.append(_prefixed(graph, stem))
        floats.append([{f"{stem}{x}": v for x, v in sample.items()} for sample in samples])
    choices = _compare(graphs, floats, board, tmp_path / "project")
    assert {choice.kernel.name for choice in choices.values()} == KERNELS
