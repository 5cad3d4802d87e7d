"""Random layers against their oracle: generated C on the host, and firmware in the emulator."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.firmware.test_operators import _compare, _instance, _joined, plan_apart
from tests.ops.host import HostModel, codes_of, simulate
from toolchain.board import Isa
from toolchain.ir import Array, DType, Example, Graph, Op, Target
from toolchain.ops._weights import INT8_REACH
from toolchain.ops._windows import Window
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.plan import Arranged
from toolchain.select import Choice, select_kernels
from toolchain.select.costs import Cost, Costs

Maker = Callable[[np.random.Generator], Example]


def leave_fast_kernels(monkeypatch: pytest.MonkeyPatch, *operators: type[Op]) -> None:
    """Take the preferred kernel for the instruction set, whatever costs and sizes of code say.

    Kernels that are the same on all of them are left out: they are shorter, and cost nothing here.
    """
    monkeypatch.setattr(Cost, "predict", lambda *_: 0)
    monkeypatch.setattr(Costs, "bytes_of", lambda *_: None)
    for operator in operators:
        fast = tuple(k for k in operator.kernels if k.isas is not None and k.isas != set(Isa))
        monkeypatch.setattr(operator, "kernels", fast)


def normal(rng: np.random.Generator, *shape: int) -> Array:
    """float32 weights, scaled to a unit sum of squares per output."""
    return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32)


def clip(rng: np.random.Generator) -> tuple[float | None, float | None]:
    """No activation, ReLU, ReLU6 or any bounds."""
    choices = [(None, None), (0.0, None), (0.0, 6.0), (-0.4, 0.7), (0.0, 0.3), (-1.0, None)]
    low, high = choices[rng.integers(len(choices))]
    return low, high


def depthwise_row(rng: np.random.Generator) -> Example:
    """One row of outputs, of which the first or the last row of the kernel may be padding."""
    top, bottom = ((0, 0), (1, 0), (0, 1))[int(rng.integers(3))]
    left, right = (int(n) for n in rng.integers(0, 2, 2))
    size = (3 - top - bottom, int(rng.integers(3, 12)))
    channels = int(rng.integers(1, 20))
    window = Window((3, 3), pads=(top, left, bottom, right))
    return Example(
        DepthwiseConv2D("depthwise", ("x", "w", "b"), ("y",), window, 0.0),
        {"x": (1, *size, channels)},
        {"w": normal(rng, 1, 3, 3, channels), "b": normal(rng, channels)},
    )


def instances(
    make: Maker, seeds: Iterable[int], *, extreme_weights: bool = False
) -> tuple[list[Graph], list[list[dict]]]:
    """Quantised graphs and float samples.

    Args:
        make: Makes one layer.
        seeds: One layer each.
        extreme_weights: Every fifth layer gets weights that other quantisers may choose.
    """
    graphs, floats = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph, samples = _instance(make(rng), rng, f"s{seed}_")
        extreme = extreme_weights and seed % 5 == 0
        graphs.append(_with_extreme_weights(graph, rng) if extreme else graph)
        floats.append(samples)
    return graphs, floats


def _with_extreme_weights(graph: Graph, rng: np.random.Generator) -> Graph:
    """The same graph with many weights of -128 and 127; int4 ones from -7 to 7."""
    op = graph.ops[0]
    name, reach = op.inputs[1], getattr(op, "weight_reach", INT8_REACH)
    low, high = (-128, 127) if reach == INT8_REACH else (-reach, reach)
    codes = rng.choice(np.array([low, high, low, 1], np.int8), graph.constants[name].shape)
    constants, types = {**graph.constants, name: codes}, dict(graph.types)
    if graph.ops[0].reads is DType.INT16:  # sums of 32 bits were proved for other weights
        bias = graph.ops[0].inputs[2]
        constants[bias] = constants[bias].astype(np.int64)
        types[bias] = replace(types[bias], dtype=DType.INT64)
    return replace(graph, constants=constants, types=types)


def apart(graph: Graph, choices: Mapping[str, Choice]) -> Arranged:
    """Layers that have nothing to do with each other: their arena need not be planned."""
    plan = plan_apart(graph, choices, 0, lambda end, n: (end, -(-(end + n) // 16) * 16))
    return Arranged(graph, choices, plan)


def check_on_host(
    make: Maker,
    seeds: Iterable[int],
    target: Target,
    folder: Path,
    *,
    extreme_weights: bool = False,
) -> HostModel:
    """Calibrated samples, random codes and extreme codes through the C forms."""
    graphs, floats = instances(make, seeds, extreme_weights=extreme_weights)
    graph = _joined(graphs)
    choices = select_kernels(graph, target)
    model = HostModel(graph, target, folder, apart(graph, choices))
    rng = np.random.default_rng(1)
    samples: list[dict[str, Array]] = [{}, {}, {}, {}]
    for part, values in zip(graphs, floats, strict=True):
        for x in part.inputs:
            shape = part.types[x].shape
            samples[0] |= codes_of(part, values[0])
            samples[1][x] = rng.integers(-128, 128, shape).astype(np.int8)
            samples[2][x] = rng.choice(np.array([-128, 127], np.int8), shape)
            samples[3][x] = np.full(shape, -128, np.int8)
    for sample in samples:
        expected, got = simulate(graph, sample), model.run(sample)
        for y in graph.outputs:
            np.testing.assert_array_equal(got[y], expected[y], err_msg=f"{y} {graph.types[y]}")
    return model


def check_in_emulator(
    make: Maker, seeds: Iterable[int], board: str, folder: Path, *, extreme_weights: bool = False
) -> set[str]:
    """Calibrated and random codes, with canaries; returns the kernels taken."""
    graphs, floats = instances(make, seeds, extreme_weights=extreme_weights)
    choices = _compare(graphs, floats, board, folder)
    return {choice.kernel.name for choice in choices.values()}
