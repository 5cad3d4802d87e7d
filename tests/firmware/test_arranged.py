"""Random nets of fast kernels in the arena that is planned for them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.firmware.emulation import run_in_emulator
from tests.firmware.test_operators import _joined, _prefixed, _samples
from tests.firmware.test_overlap import BOARDS
from tests.ops.host import quantized, random_inputs
from toolchain.board import load_board
from toolchain.emit import write_code, write_firmware, write_model
from toolchain.ir import Array, Graph, Op, Origin, Target, TensorType
from toolchain.ir.execute import simulate
from toolchain.ops._examples import normal, size
from toolchain.ops._windows import Window
from toolchain.ops.add import Add
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.plan import (
    Arranged,
    arrange,
    check_plan,
    check_planned,
    plan_memory,
)
from toolchain.project import firmware_of
from toolchain.rows import Segments, Streamed, with_segments
from toolchain.select import Optimize, alternatives, select_kernels


def _net(seed: int) -> tuple[Graph, list[dict[str, Array]]]:
    """A chain of convolutions and depthwise convolutions with skips, quantised."""
    rng = np.random.default_rng(seed)
    shapes = {"x": (1, size(rng, 6, 18), size(rng, 6, 18), int(rng.choice([3, 8, 16, 32])))}
    ops: list[Op] = []
    constants: dict[str, Array] = {}
    for n in range(size(rng, 3, 7)):
        x, y = list(shapes)[-1], f"t{n}"
        earlier = [t for t in list(shapes)[:-1] if shapes[t] == shapes[x]]
        if earlier and rng.random() < 0.5:
            ops.append(Add(y, (x, earlier[-1]), (y,)))
            shapes[y] = shapes[x]
            continue
        ops.append(_layer(rng, x, y, shapes, constants))
    types = {n: TensorType(s) for n, s in shapes.items()}
    types |= {n: TensorType(c.shape) for n, c in constants.items()}
    origins = {n: Origin(n) for n in shapes}
    plain = Graph("net", tuple(ops), types, constants, ("x",), (list(shapes)[-1],), origins)
    samples = [random_inputs(plain, rng) for _ in range(2)]
    stem = f"n{seed}_"
    renamed = [{f"{stem}{x}": v for x, v in s.items()} for s in samples]
    graph = _prefixed(quantized(plain, samples), stem)
    named = tuple(replace(op, name=f"{stem}{i}") for i, op in enumerate(graph.ops))
    return replace(graph, ops=named), renamed


def _layer(
    rng: np.random.Generator,
    x: str,
    y: str,
    shapes: dict[str, tuple[int, ...]],
    constants: dict[str, Array],
) -> Op:
    _, height, width, channels = shapes[x]
    low = 0.0 if rng.random() < 0.6 else None
    weights, bias = f"{y}_w", f"{y}_b"
    if rng.random() < 0.5:
        stride = 2 if min(height, width) > 5 and rng.random() < 0.4 else 1
        window = Window((3, 3), (stride, stride), (1, 1, 1, 1))
        constants[weights] = normal(rng, 1, 3, 3, channels)
        op: Op = DepthwiseConv2D(y, (x, weights, bias), (y,), window, low, None)
        outputs = channels
    else:
        kernel = 3 if rng.random() < 0.4 else 1
        outputs = channels if rng.random() < 0.5 else int(rng.choice([7, 16, 24, 32]))
        pads = (kernel // 2,) * 4
        window = Window((kernel, kernel), pads=(pads[0], pads[1], pads[2], pads[3]))
        constants[weights] = normal(rng, outputs, kernel, kernel, channels)
        op = Conv2D(y, (x, weights, bias), (y,), window, low, None)
    constants[bias] = normal(rng, outputs)
    shapes[y] = (1, *window.output((height, width)), outputs)
    return op


def _in_bands(graph: Graph, target: Target) -> Arranged:
    """Every three layers that can be are a segment, with two to four rows a call."""
    segments, made, first = Segments(graph, target), [], 0
    while first + 2 < len(graph.ops):
        segment = segments.segment(first, first + 2, 2 + len(made) % 3)
        made += [segment] if segment is not None else []
        first += 1 if segment is None else 3
    run, choices = with_segments(graph, select_kernels(graph, target), made)
    return Arranged(run, choices, plan_memory(run, choices, target.alignment))


def _arranged(graph: Graph, target: Target, form: str = "fast") -> Arranged:
    """Whole tensors, the last frugal form of every kernel that has one, or segments in bands."""
    if form == "bands":
        found = _in_bands(graph, target)
        check_planned(found, target)
        return found
    if form == "frugal":
        choices = dict(select_kernels(graph, target))
        for y, others in alternatives(graph, target, choices, Optimize.SIZE).items():
            if others:
                choices[y] = others[-1].choice
        plan = plan_memory(graph, choices, target.alignment)
        found = Arranged(graph, choices, plan)
    else:
        found = arrange(graph, target)
    check_plan(found.graph, found.choices, found.plan, target.alignment)
    return found


@pytest.mark.emulator
@pytest.mark.parametrize("form", ["fast", "frugal", "bands"])
@pytest.mark.parametrize("core", BOARDS)
def test_nets_equal_their_oracles_in_their_arena(core: str, form: str, tmp_path: Path) -> None:
    nets = [_net(seed) for seed in range(8)]
    board = load_board(BOARDS[core])
    target = Target(board.isa)
    found = _arranged(_joined([graph for graph, _ in nets]), target, form)
    assert any(b.onto for b in found.plan.buffers) or form != "frugal"
    segments = sum(isinstance(op, Streamed) for op in found.graph.ops)
    assert segments > 4 if form == "bands" else segments == 0
    assert any(b.over and not b.onto for b in found.plan.buffers)
    code = write_code(found.graph, found.choices, found.plan, target, "nets")
    folder = tmp_path / "project"
    folder.mkdir()
    write_model(folder, code, {"test": "arranged"})
    firmware = firmware_of(code)
    write_firmware(folder, firmware, board, None)
    samples = _samples([graph for graph, _ in nets], [floats for _, floats in nets])
    graph = found.graph
    inputs = [b"".join(s[x].tobytes() for x in graph.inputs) for s in samples]
    result = run_in_emulator(folder, board, firmware, inputs)
    for sample, output in zip(samples, result.outputs, strict=True):
        expected = simulate(graph, sample)
        assert output == b"".join(expected[y].tobytes() for y in graph.outputs)


@pytest.mark.slow
@pytest.mark.parametrize("core", ["M4", "M55"])
def test_2000_nets_have_a_right_plan(core: str) -> None:
    target = Target(load_board(BOARDS[core]).isa)
    smaller = 0
    for seed in range(1000, 2000):
        graph, _ = _net(seed)
        plan = _arranged(graph, target).plan
        smaller += any(b.over for b in plan.buffers)
    assert smaller > 500
