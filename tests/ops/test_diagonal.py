"""Distances of window operators against a simulation of every byte."""

import numpy as np
import pytest

from tests.ops.host import example_graph, quantized, random_inputs
from toolchain.board import Isa
from toolchain.ir import DType, Family, Site, Target, TensorType, in_place
from toolchain.ops._diagonal import Reads, window_distance
from toolchain.ops._examples import random_window
from toolchain.ops._windows import Window
from toolchain.ops.add import Add
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.max_pool import MaxPool
from toolchain.select import select_kernels


def taps_of(window: Window, x: tuple, y: tuple) -> list[list[int]]:
    """For every output pixel the cells of the input that its window meets."""
    result = []
    for n in range(y[0]):
        for oy in range(y[1]):
            for ox in range(y[2]):
                cells = []
                for ky in range(window.kernel[0]):
                    for kx in range(window.kernel[1]):
                        row = oy * window.stride[0] - window.pads[0] + ky * window.dilation[0]
                        column = ox * window.stride[1] - window.pads[1] + kx * window.dilation[1]
                        if 0 <= row < x[1] and 0 <= column < x[2]:
                            cells.append((n * x[1] + row) * x[2] + column)
                result.append(cells)
    return result


def accesses(window: Window, x: tuple, y: tuple, together: int, reads: Reads):
    """("r" or "w", byte of the input or the output) in the order of a kernel."""
    taps, channels = taps_of(window, x, y), y[3]
    for start in range(0, len(taps), together):
        group = range(start, min(start + together, len(taps)))
        if reads is Reads.BEFORE:
            for p in group:
                yield from (("r", cell * x[3] + i) for cell in taps[p] for i in range(x[3]))
        for p in group:
            for c in range(channels):
                if reads is Reads.ALL_CHANNELS:
                    yield from (("r", cell * x[3] + i) for cell in taps[p] for i in range(x[3]))
                if reads is Reads.OWN_CHANNEL:
                    yield from (("r", cell * x[3] + c // (channels // x[3])) for cell in taps[p])
                yield "w", p * channels + c


def spoilt(trace: list, shift: int) -> bool:
    """Whether a byte is read after it was overwritten; the output begins `shift` bytes before."""
    written = set()
    for kind, byte in trace:
        if kind == "w":
            written.add(byte - shift)
        elif byte in written:
            return True
    return False


def random_case(seed: int) -> tuple:
    rng = np.random.default_rng(seed)
    window, height, width = random_window(rng)
    reads = list(Reads)[seed % 3]
    inputs = int(rng.integers(1, 5))
    outputs = inputs * int(rng.integers(1, 4))
    if reads is not Reads.OWN_CHANNEL:
        outputs = int(rng.integers(1, 6))
    together = int(rng.integers(1, 5)) if reads is Reads.BEFORE else 1
    batch = int(rng.integers(1, 3))
    oh, ow = window.output((height, width))
    return window, (batch, height, width, inputs), (batch, oh, ow, outputs), together, reads


@pytest.mark.parametrize("seeds", [range(60), range(60, 120)], ids=str)
def test_the_distance_is_the_least_one_that_spoils_nothing(seeds):
    tight = 0
    for seed in seeds:
        window, x, y, together, reads = random_case(seed)
        distance = window_distance(window, x, y, together, reads)
        trace = list(accesses(window, x, y, together, reads))
        for shift in (distance, distance + 1, distance + 2, distance + x[3], distance + 50):
            assert not spoilt(trace, shift), seed
        if distance > -np.prod(x):
            tight += 1
            assert spoilt(trace, distance - 1), seed
    assert tight > len(seeds) / 2


def test_single_pixels_need_no_less_than_groups():
    for seed in range(0, 90, 3):
        window, x, y, together, reads = random_case(seed)
        assert window_distance(window, x, y, 1) >= window_distance(window, x, y, together, reads)


def test_known_layers():
    same = Window((3, 3), pads=(1, 1, 1, 1))
    plane = (1, 25, 5, 64)
    assert window_distance(same, plane, plane, 1, Reads.OWN_CHANNEL) == (5 + 1) * 64
    point = Window((1, 1))
    assert window_distance(point, plane, plane, 1, Reads.ALL_CHANNELS) == 63
    assert window_distance(point, plane, plane, 1, Reads.BEFORE) == 0
    assert window_distance(point, plane, plane, 2, Reads.BEFORE) == 0
    assert window_distance(point, plane, plane, 1, Reads.OWN_CHANNEL) == 0
    whole = Window((25, 5))
    assert window_distance(whole, plane, (1, 1, 1, 64), 1, Reads.OWN_CHANNEL) == 0
    assert window_distance(whole, plane, (1, 1, 1, 64), 1, Reads.BEFORE) == -25 * 5 * 64
    halves = Window((2, 2), stride=(2, 2))
    assert window_distance(halves, plane, (1, 12, 2, 64), 1, Reads.OWN_CHANNEL) == 0


@pytest.mark.parametrize("op", [Conv2D, DepthwiseConv2D, MaxPool, AveragePool])
def test_functions_of_arms_library_promise_nothing(op):
    rng = np.random.default_rng(0)
    plain = example_graph(op.example(rng))
    graph = quantized(plain, [random_inputs(plain, rng)])
    y = graph.ops[-1].y
    for isa in Isa:
        own = select_kernels(graph, Target(isa, Family.PORTABLE))[y]
        assert own.overlap.keys() == {0}
        arm = select_kernels(graph, Target(isa, Family.CMSIS_NN))[y]
        assert not (arm.kernel.name.startswith("arm_") and arm.overlap)


def test_in_place_needs_inputs_of_the_size_of_the_output():
    types = {n: TensorType(shape, DType.INT8) for n, shape in
             {"a": (1, 4), "b": (1, 1), "y": (1, 4)}.items()}  # fmt: skip
    site = Site(Add("add", ("a", "b"), ("y",)), types, {}, Target(Isa.DSP))
    assert in_place(0, 1)(site) == {0: 0}
    assert in_place(1, 2)(site) == {}
