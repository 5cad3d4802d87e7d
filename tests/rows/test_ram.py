"""What --ram finds: targets on the reference models, limits, refusals."""

import re
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.rows.chains import LAYOUTS, laid_out, random_chain
from toolchain import passes
from toolchain.board import Isa
from toolchain.errors import InputRefused
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.ir import Graph, Op, Origin, Target, TensorType
from toolchain.ops.add import Add
from toolchain.ops.reshape import Reshape
from toolchain.ops.softmax import Softmax
from toolchain.ops.transpose import Transpose
from toolchain.ops.unary import Unary
from toolchain.plan import (
    Arranged,
    Plans,
    Ram,
    Wish,
    arrange,
    bands,
    check_planned,
    plan_for,
    rows_notes,
)
from toolchain.quant.prune import prune
from toolchain.quant.quantize import free_tensors, quantize
from toolchain.quant.ranges import Range
from toolchain.rows import RowChoice, Streamed, flattened
from toolchain.select import Optimize, select_kernels

DSP = Target(Isa.DSP)
DEFAULT = {
    "mlperf_kws_int8_qdq": 8700,
    "mlperf_ic_int8_qdq": 21200,
    "mlperf_vww_int8_qdq": 28600,
    "mlperf_ad_int8_qdq": 768,
    "te_vww_int8_qdq": 26700,
    "blazeface_front": 131500,
}
"""Bytes at most on a Cortex-M4 when nothing is asked for."""
SMALLEST = {
    ("mlperf_kws_int8_qdq", False): 4600,
    ("mlperf_kws_int8_qdq", True): 4300,
    ("mlperf_ic_int8_qdq", False): 13800,
    ("mlperf_ic_int8_qdq", True): 12400,
    ("mlperf_vww_int8_qdq", False): 27900,
    ("mlperf_vww_int8_qdq", True): 12600,
    ("te_vww_int8_qdq", False): 20800,
    ("te_vww_int8_qdq", True): 13900,
    ("blazeface_front", False): 63500,
    ("mlperf_ic_nchw", False): 13800,
    ("mlperf_ic_nchw", True): 12400,
    ("t_mnist_lenet__legacy_op13", False): 1900,
    ("t_mnist_lenet__legacy_op13", True): 1800,
    ("t_fashion_dscnn__legacy_op13", False): 5900,
    ("t_fashion_dscnn__legacy_op13", True): 5500,
}
"""Bytes at most on a Cortex-M4, by model and whether the input comes row by row."""
WITH_MVE = {
    "mlperf_kws_int8_qdq": (11_600, 5_100, 4_800),
    "mlperf_ic_int8_qdq": (33_600, 12_800, 11_000),
    "mlperf_vww_int8_qdq": (40_300, 28_500, 15_500),
    "te_vww_int8_qdq": (31_200, 23_600, 17_000),
    "blazeface_front": (129_000, 64_000, 39_600),
}
"""The same on a Cortex-M55: by default, smallest, smallest with rows; its kernels need scratch."""


@cache
def reference(path: Path) -> Graph:
    graph = passes.run(read(load_model(path), path.stem, {}, ()).graph)
    ranges = dict.fromkeys(free_tensors(graph), Range(-6.0, 6.0))
    return prune(quantize(graph, ranges).graph).graph


def planned(graph: Graph, ram: Ram | int, *, by_rows: bool = False) -> Arranged:
    found = plan_for(graph, DSP, Wish(ram, by_rows=by_rows))
    check_planned(found, DSP)
    assert found.plan.lower_bound <= found.plan.arena_bytes
    return found


@pytest.mark.parametrize("name", DEFAULT)
def test_the_default_arena(name: str, shared: Path) -> None:
    graph = reference(shared / "models" / f"{name}.onnx")
    found, apart = planned(graph, Ram.AUTO), select_kernels(graph, DSP)
    assert found.plan.arena_bytes <= DEFAULT[name]
    assert instructions(found) <= 1.02 * sum(c.predicted or 0 for c in apart.values())


@pytest.mark.parametrize(
    "name",
    [
        "mlperf_kws_int8_qdq",
        "mlperf_ic_int8_qdq",
        pytest.param("mlperf_vww_int8_qdq", marks=pytest.mark.slow),
    ],
)
def test_the_default_arena_does_not_grow_where_the_input_comes_row_by_row(
    name: str, shared: Path
) -> None:
    graph = reference(shared / "models" / f"{name}.onnx")
    whole, fed = planned(graph, Ram.AUTO), planned(graph, Ram.AUTO, by_rows=True)
    assert fed.plan.arena_bytes <= whole.plan.arena_bytes
    assert instructions(fed) <= 1.03 * instructions(whole)


def instructions(found: Arranged) -> int:
    """As predicted; layers without data count for nothing."""
    rows = [c.costs.values() for c in found.choices.values() if isinstance(c, RowChoice)]
    whole = [found.choices[op.y].predicted for op in found.graph.ops if op.y in found.choices]
    return sum(n or 0 for n in (*whole, *chain.from_iterable(rows)))


@pytest.mark.parametrize(
    ("name", "by_rows"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] if case[0] == "te_vww_int8_qdq" else [])
        for case in SMALLEST
    ],
)
def test_the_smallest_arena(name: str, by_rows: bool, shared: Path) -> None:
    graph = reference(shared / "models" / f"{name}.onnx")
    found = planned(graph, Ram.MIN, by_rows=by_rows)
    assert found.plan.arena_bytes <= SMALLEST[name, by_rows]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "mlperf_kws_int8_qdq" else [pytest.mark.slow])
        for name in WITH_MVE
    ],
)
def test_the_arenas_with_mve(name: str, shared: Path) -> None:
    graph, target = reference(shared / "models" / f"{name}.onnx"), Target(Isa.MVE)
    wishes = (Wish(), Wish(Ram.MIN), Wish(Ram.MIN, by_rows=True))
    for wish, most in zip(wishes, WITH_MVE[name], strict=True):
        found = plan_for(graph, target, wish)
        check_planned(found, target)
        assert found.plan.arena_bytes <= most, wish


def test_a_segment_is_not_called_optimal_for_its_buffers_alone(shared: Path) -> None:
    plan = planned(reference(shared / "models" / "mlperf_kws_int8_qdq.onnx"), Ram.MIN).plan
    assert plan.arena_bytes == max(plan.step_bytes)
    assert plan.lower_bound < plan.arena_bytes
    assert not plan.optimal


def test_a_limit_is_kept_and_costs_less_than_the_smallest_arena(shared: Path) -> None:
    graph = reference(shared / "models" / "mlperf_ic_int8_qdq.onnx")
    whole, smallest = arrange(graph, DSP), planned(graph, Ram.MIN)
    assert not rows_notes(whole, graph, DSP, Optimize.SPEED)
    limits = (30_500, 24_000, 18_000)
    found = [planned(graph, limit) for limit in limits]
    arenas = [plan.plan.arena_bytes for plan in (whole, *found, smallest)]
    assert all(a > b for a, b in pairwise(arenas))
    assert all(a <= limit for a, limit in zip(arenas[1:4], limits, strict=True))
    costs = [instructions(plan) for plan in (whole, *found, smallest)]
    assert costs == sorted(costs)
    ways = [rows_notes(p, graph, DSP, Optimize.SPEED)[0] for p in (*found, smallest)]
    what = (
        r": in bands of \d rows in [\d,]+ bytes, [\d,]+ of them live at one step; predicted \+\d%"
    )
    assert re.search(what, ways[0])
    assert all(re.search(r": (row by row|in bands of \d rows) in ", way) for way in ways)
    assert ": row by row in " in ways[-1]
    assert planned(graph, whole.plan.arena_bytes) == whole


def test_a_limit_below_the_smallest_arena_is_refused(shared: Path) -> None:
    graph = reference(shared / "models" / "mlperf_kws_int8_qdq.onnx")
    smallest = planned(graph, Ram.MIN).plan.arena_bytes
    with pytest.raises(InputRefused, match=f"the smallest arena takes {smallest:,} bytes"):
        planned(graph, smallest - 4)
    assert planned(graph, smallest).plan.arena_bytes == smallest


def test_dense_layers_take_no_rows(shared: Path) -> None:
    graph = reference(shared / "models" / "mlperf_ad_int8_qdq.onnx")
    assert planned(graph, Ram.MIN) == planned(graph, Ram.AUTO)
    refused(graph, "this FullyConnected reads input input_1 as [1, 640], which is no image")


def refused(graph: Graph, reason: str) -> InputRefused:
    with pytest.raises(InputRefused, match=re.escape(reason)) as found:
        planned(graph, Ram.MIN, by_rows=True)
    assert "--input-rows" in found.value.hint
    return found.value


def test_steps_in_one_row_are_no_rows(shared: Path) -> None:
    graph = reference(shared / "models" / "t_vowels_tcn__legacy_op13.onnx")
    error = refused(graph, "it reads input x [1, 12, 25] as one row of 25 steps")
    assert error.where == "/i/Conv"
    assert "the input [1, 12, 25, 1]" in error.hint


def image(*ops: Op, shape: tuple[int, ...] = (1, 4, 4, 2), also: tuple[str, ...] = ()) -> Graph:
    """Operators on an image x, quantised; the last tensor and others are outputs."""
    types = {x: TensorType(shape) for op in ops for x in op.inputs if x[0] == "x"}
    for op in ops:
        types |= {y: TensorType(s) for y, s in zip(op.outputs, op.infer(types), strict=True)}
    inputs = tuple(x for x in types if x[0] == "x")
    graph = Graph("net", ops, types, {}, inputs, (*also, ops[-1].y), {n: Origin(n) for n in types})
    return quantize(graph, dict.fromkeys(types, Range(-6.0, 6.0))).graph


TABLE = Unary("table", ("x",), ("a",), ("sigmoid", ("x",)))


@pytest.mark.parametrize(
    ("graph", "where", "reason"),
    [
        (image(Add("sum", ("x", "x2"), ("y",))), "net", "it has 2 inputs (x, x2)"),
        (
            image(Softmax("soft", ("x",), ("y",))),
            "soft",
            "this Softmax reads the input and needs all rows of it at once",
        ),
        (
            image(TABLE, Softmax("soft", ("a",), ("b",)), Add("sum", ("x", "b"), ("y",))),
            "soft",
            "this Softmax needs all rows at once, and the layers from the input on end only there",
        ),
        (
            image(TABLE, Add("sum", ("x", "a"), ("y",)), also=("a",)),
            "net",
            "the layers that read the input (table, sum) go on to several outputs",
        ),
        (
            image(TABLE, Reshape("flat", ("x",), ("y",), (1, 32)), also=("a",)),
            "net",
            "the layers that read the input (table, flat) go on to several outputs",
        ),
        (
            image(Reshape("flat", ("x",), ("b",), (1, 32)), Softmax("soft", ("b",), ("y",))),
            "soft",
            "this Softmax reads input x as [1, 32], which is no image",
        ),
        (
            image(
                Transpose("moved", ("x",), ("a",), (0, 3, 1, 2)),
                Reshape("view", ("a",), ("b",), (1, 8, 4, 1)),
                Unary("table", ("b",), ("y",), ("sigmoid", ("x",))),
            ),
            "table",
            "this Unary reads input x as [1, 8, 4, 1] whose rows, pixels and channels are mixed",
        ),
        (
            image(TABLE, shape=(1, 1, 9, 2)),
            "table",
            "it reads input x [1, 1, 9, 2] as one row of 9 steps",
        ),
        (
            image(Reshape("flat", ("x",), ("y",), (1, 32))),
            "x",
            "the caller reads input x as [1, 32], which is no image",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_layer_that_needs_more_than_rows_is_named(
    graph: Graph, where: str, reason: str
) -> None:
    assert refused(graph, reason).where == where


@pytest.mark.parametrize("layout", LAYOUTS[1:])
@pytest.mark.parametrize("seed", range(4))
def test_the_layout_of_the_model_costs_no_byte_where_rows_come_in(seed: int, layout: str) -> None:
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, 4, int(layout == "one channel"))
    least = planned(chain, Ram.MIN, by_rows=True).plan.arena_bytes
    graph = laid_out(chain, layout)
    found = planned(graph, Ram.MIN, by_rows=True)
    assert found.plan.arena_bytes == least
    assert set(flattened(found.graph).ops) == set(graph.ops)
    assert flattened(found.graph).inputs == graph.inputs


@pytest.mark.parametrize("target", [DSP, Target(Isa.MVE), Target(Isa.SCALAR)], ids=str)
def test_random_chains_in_bands(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every byte is worth all instructions; each segment is executed in its arena."""
    monkeypatch.setattr(bands, "LEAST", 0)
    monkeypatch.setattr(bands, "PREDICTED", 1.0)
    monkeypatch.setattr(bands, "SHARE", 1.0)
    segments: list[int] = []
    for seed in range(12):
        rng = np.random.default_rng(200 + seed)
        graph = random_chain(rng, int(rng.integers(3, 12)))
        whole, found = arrange(graph, target), plan_for(graph, target)
        check_planned(found, target)
        cut = [op for op in found.graph.ops if isinstance(op, Streamed)]
        assert (found == whole) == (not cut)
        assert not cut or found.plan.arena_bytes < whole.plan.arena_bytes
        segments.append(len(cut))
    assert sum(n > 0 for n in segments) > 3


@pytest.mark.parametrize("seed", range(12))
def test_random_chains_never_get_larger(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    graph = random_chain(rng, int(rng.integers(3, 10)))
    smallest, default = planned(graph, Ram.MIN), planned(graph, Ram.AUTO)
    assert smallest.plan.arena_bytes <= default.plan.arena_bytes
    assert planned(graph, Ram.MIN) == smallest


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_number_of_bytes_gives_less_than_the_smallest_arena(seed: int, by_rows: bool) -> None:
    """And the number that a refusal names is enough."""
    rng = np.random.default_rng(seed)
    require_the_least(random_chain(rng, int(rng.integers(3, 10))), by_rows=by_rows)


@pytest.mark.slow
@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("part", range(8))
def test_many_chains_where_no_number_of_bytes_gives_less(part: int, by_rows: bool) -> None:
    for seed in range(1000 + part, 1200, 8):
        rng = np.random.default_rng(seed)
        require_the_least(random_chain(rng, int(rng.integers(3, 12))), by_rows=by_rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["q_digits_resnet__qdq_pc_MinMax_s8", "mlperf_kws_int8_qdq"])
def test_no_number_of_bytes_gives_less_for_shared_nets(name: str, shared: Path) -> None:
    """On digits a peak that seems lower needs a larger arena."""
    require_the_least(reference(shared / "models" / f"{name}.onnx"), by_rows=False)


def require_the_least(graph: Graph, *, by_rows: bool) -> None:
    plans = Plans(graph, DSP, Wish(by_rows=by_rows))
    try:
        least = plans.at(Ram.MIN).plan.arena_bytes
    except InputRefused:
        assert by_rows  # a layer of this chain cannot run row by row
        return
    most = plans.at(Ram.AUTO).plan.arena_bytes
    assert least <= most
    for limit in sorted({*np.linspace(least, most, 6, dtype=int).tolist(), least + 4}):
        found = plans.at(limit)
        check_planned(found, DSP)
        assert least <= found.plan.arena_bytes <= limit
    with pytest.raises(InputRefused, match=f"smallest arena takes {least:,} bytes"):
        plans.at(least - 1)
