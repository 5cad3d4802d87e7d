"""Mixed precision: where int16 codes begin and end, and what is chosen by itself."""

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.firmware.zoo import ZOO
from tests.quality.hard_net import hard_net, hard_samples
from tests.quality.test_hard_net import measure
from toolchain import pipeline
from toolchain.check.compare import Gates
from toolchain.check.evaluate import evaluate as judge_model
from toolchain.check.metrics import agreement
from toolchain.errors import InputRefused
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.frontend.samples import load_samples
from toolchain.ir import DType, Graph, Origin, Quant, Stage, TensorType, verify
from toolchain.ir.execute import evaluate, simulate
from toolchain.ir.fixedpoint import (
    dequantize,
    quantize_as,
    quantize_multipliers,
    reduced_multiplier,
    requantize_wide,
    symmetric,
)
from toolchain.ops._windows import Window
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.log_softmax import LogSoftmax
from toolchain.ops.max_pool import MaxPool
from toolchain.ops.reshape import Reshape
from toolchain.ops.unary import Unary
from toolchain.ops.wide import Requantize, moves_codes
from toolchain.ops.wide.table import WHOLE, interpolate, make_tables
from toolchain.options import ConvertOptions
from toolchain.pipeline.precision import Aim
from toolchain.quant.mixed import mix
from toolchain.quant.mixture import Mixture
from toolchain.quant.quantize import quantize
from toolchain.quant.ranges import Range
from toolchain.quant.refine import Wanted, refine
from toolchain.quant.sensitivity import _fewest, widen
from toolchain.quant.trial import float_values
from toolchain.rows import flattened

RNG = np.random.default_rng(0)
SHAPE = (1, 6, 6, 4)


def _net() -> Graph:
    """Two convolutions, a pool and a view after the first, and a sigmoid at the end."""
    weights = {f"w{i}": RNG.normal(0, 0.3, (4, 1, 1, 4)).astype(np.float32) for i in (1, 2)}
    biases = {f"b{i}": RNG.normal(0, 0.3, 4).astype(np.float32) for i in (1, 2)}
    point = Window((1, 1))
    ops = (
        Conv2D("one", ("x", "w1", "b1"), ("h",), point),
        MaxPool("pool", ("h",), ("p",), Window((2, 2), (2, 2))),
        Reshape("view", ("p",), ("v",), (1, 3, 3, 4)),
        Conv2D("two", ("v", "w2", "b2"), ("z",), point),
        Unary("head", ("z",), ("y",), ("sigmoid", ("x",))),
    )
    types = {"x": TensorType(SHAPE)} | {n: TensorType(a.shape) for n, a in weights.items()}
    types |= {n: TensorType(a.shape) for n, a in biases.items()}
    for op in ops:
        types[op.y] = TensorType(op.infer(types)[0])
    origins = {n: Origin(n) for n in ("x", "h", "p", "v", "z", "y")}
    return Graph("net", ops, types, {**weights, **biases}, ("x",), ("y",), origins)


RANGES = {n: Range(-4.0, 4.0) for n in ("x", "h", "z")}


def _kinds(graph: Graph) -> list[str]:
    return [type(op).__name__ for op in graph.ops]


def _integer(wide: set[str], graph: Graph | None = None) -> Graph:
    mixed = mix(graph or _net(), wide, RANGES, RANGES)
    return verify(quantize(mixed.graph, mixed.ranges).graph, Stage.QUANTIZED)


def test_nothing_named_changes_nothing() -> None:
    graph = _net()
    assert mix(graph, (), RANGES, RANGES).graph is graph


def test_codes_stay_wide_until_an_operator_needs_others() -> None:
    graph = _integer({"h"})
    assert _kinds(graph) == [
        "Int16Conv2D", "Int16MaxPool", "Reshape", "Requantize", "Conv2D", "Unary"
    ]  # fmt: skip
    assert graph.types["x"].dtype is DType.INT16
    assert graph.types["v"].dtype is DType.INT16
    assert graph.types["y"].dtype is DType.INT8


def test_a_border_is_shared_and_loses_nothing_upwards() -> None:
    graph = _integer({"z"})
    assert _kinds(graph) == ["Conv2D", "MaxPool", "Reshape", "Requantize", "Int16Conv2D",
                             "Requantize", "Unary"]  # fmt: skip
    up = graph.ops[3]
    codes = np.arange(-128, 128).astype(np.int8).reshape(1, 256)
    narrow = graph.types[up.x].with_shape(codes.shape)
    wide = graph.types[up.y].with_shape(codes.shape)
    (raised,) = up.simulate({up.x: narrow, up.y: wide}, codes)
    np.testing.assert_array_equal(dequantize(raised, wide.q), dequantize(codes, narrow.q))


def test_what_has_no_form_stays_and_is_named() -> None:
    graph = _net()
    ops = (*graph.ops[:-1], LogSoftmax("head", ("z",), ("y",)))
    mixed = mix(graph.with_ops(ops), {"y"}, RANGES, RANGES)
    assert mixed.notes == ("head: LogSoftmax has no int16 form and stays int8",)
    assert moves_codes(graph.ops[1])
    assert not moves_codes(graph.ops[0])


def test_wide_layers_are_nearer_to_the_float_model() -> None:
    graph = _net()
    x = RNG.uniform(-1, 1, SHAPE).astype(np.float32)
    expected = evaluate(graph, {"x": x})["y"]
    errors = []
    for wide in ((), ("h", "z", "y")):
        integer = _integer(set(wide), graph)
        codes = simulate(integer, {"x": quantize_as(x, integer.types["x"])})["y"]
        errors.append(np.abs(dequantize(codes, integer.types["y"].q) - expected).max())
    assert errors[1] < errors[0]


def test_stated_int16_codes_count_as_chosen() -> None:
    graph = _net()
    types = dict(graph.types)
    types["h"] = TensorType(types["h"].shape, DType.FLOAT32, symmetric(2.0**-12))
    mixed = mix(graph.with_ops(graph.ops, types), (), RANGES, RANGES)
    integer = quantize(mixed.graph, mixed.ranges).graph
    assert integer.types["h"].q == symmetric(2.0**-12)
    assert _kinds(integer)[0] == "Int16Conv2D"


def test_a_stated_int8_scale_gives_way_to_a_range() -> None:
    graph = _net()
    types = dict(graph.types)
    types["h"] = TensorType(types["h"].shape, DType.FLOAT32, Quant((0.5,), 3))
    mixed = mix(graph.with_ops(graph.ops, types), {"h"}, RANGES, RANGES)
    integer = quantize(mixed.graph, mixed.ranges).graph
    assert integer.types["h"].q == symmetric(float(np.float32(131 * 0.5 / 32767)))


def test_64_bit_sums_are_requantised_as_by_arm_nn_requantize_s64() -> None:
    reals = [3e-9, 1e-5, 0.37, 0.99999]
    multipliers, shifts = quantize_multipliers(reals)
    reduced = reduced_multiplier(multipliers)
    assert reduced.max() == 2**15 - 1
    sums = RNG.integers(-(2**40), 2**40, (50, 1))
    for column, (m, s) in enumerate(zip(reduced, shifts, strict=True)):
        got = requantize_wide(sums, reduced, shifts)[:, column]
        for value, code in zip(sums[:, 0], got, strict=True):
            scaled = (int(value) * int(m)) >> (14 - int(s))
            assert code == (scaled + 1) >> 1


@pytest.mark.parametrize("scale", [2.0**-12, 0.03])
def test_tables_follow_functions_that_bend_near_zero(scale: float) -> None:
    sigmoid = ("sigmoid", ("x",))
    tables = make_tables(sigmoid, symmetric(scale), symmetric(2.0**-15))
    codes = np.arange(-(2**15), 2**15).astype(np.int16)
    exact = 2.0**14 * (1 + np.tanh(codes.astype(np.float64) * scale / 2))
    assert np.abs(interpolate(tables, codes) - exact).max() < (4 if scale < 0.01 else 40)
    assert (tables.shift < WHOLE) == (len(tables.codes) > 513)


def test_requantize_declares_its_types() -> None:
    op = Requantize("r", ("x",), ("y",), DType.INT16, DType.INT8)
    assert (op.reads, op.writes) == (DType.INT16, DType.INT8)


def test_the_hard_net_stays_rescued_and_comes_nearer() -> None:
    """Its unequal channels take equalised weights; int16 codes leave an eighth of the error."""
    graph = hard_net(outliers=True)
    samples = hard_samples(300, 1, outliers=True)
    test = hard_samples(600, 2, outliers=True)
    columns = [{"x": x} for x in samples]
    histograms = measure(graph, samples)
    found = refine(
        graph, (columns, len(columns)), (histograms, lambda g: measure(g, samples)), Wanted()
    )
    model = Mixture(found.graph, found.ranges, found.seen, graph.rounding)
    expected = float_values(graph, {"x": test}, ["y"])["y"]

    def error(wide: frozenset[str]) -> float:
        real = model.also(wide).outputs({"x": test})["y"]
        assert agreement(expected.reshape(-1, 1), real.reshape(-1, 1)) >= 0.99
        return float(np.square(real - expected).sum())

    assert error(frozenset(op.y for op in graph.ops)) < error(frozenset()) / 4


def test_the_most_sensitive_layers_are_taken_until_it_is_enough() -> None:
    graph = _net()
    model = Mixture(graph, RANGES, RANGES, graph.rounding)
    samples = {"x": RNG.uniform(-1, 1, (20, *SHAPE)).astype(np.float32)}
    expected = float_values(graph, samples, graph.outputs)

    def error(found) -> float:
        return float(np.square(found["y"] - expected["y"]).sum())

    least = error(model.also({"h", "z", "y"}).outputs(samples))
    most = error(model.outputs(samples))
    assert least < most
    assert widen(model, samples, lambda _, found: error(found) <= most).layers == frozenset()
    every = widen(model, samples, lambda _, found: error(found) <= least)
    assert every.enough
    between = widen(model, samples, lambda _, found: error(found) <= (least + most) / 2)
    assert between.enough
    assert frozenset() < between.layers <= every.layers
    assert not widen(model, samples, lambda *_: False).enough


def test_more_layers_follow_until_a_second_look_holds() -> None:
    graph = _net()
    model = Mixture(graph, RANGES, RANGES, graph.rounding)
    samples = {"x": RNG.uniform(-1, 1, (20, *SHAPE)).astype(np.float32)}
    asked: list[Graph] = []

    def holds(integer: Graph) -> bool:
        asked.append(integer)
        return len(asked) > least

    for least in (0, 1, 2):
        asked.clear()
        found = widen(model, samples, lambda *_: True, holds)
        assert found.enough
        assert len(found.layers) == least
    asked.clear()
    least = 99
    found = widen(model, samples, lambda *_: True, holds)
    assert not found.enough
    assert found.layers == {"h", "z", "y"}


@pytest.mark.parametrize("most", range(9))
@pytest.mark.parametrize("least", range(1, 11))
def test_the_fewest_layers_are_found(most: int, least: int) -> None:
    asked: list[int] = []

    def enough(count: int) -> bool:
        asked.append(count)
        return count >= least

    assert _fewest(most, enough) == (least if least <= most else None)
    assert len(asked) <= 2 * most.bit_length() + 1
    assert all(1 <= count <= most for count in asked)


@pytest.mark.parametrize(
    ("gates", "here", "held"),
    [
        (None, True, None),
        (Gates(), False, None),
        (Gates(min_sqnr=40.0), True, Gates(min_sqnr=40.0)),
        (Gates(min_sqnr=40.0), False, Gates(min_sqnr=41.0)),
        (Gates(min_agreement=0.75), False, Gates(min_agreement=0.875)),
        (Gates(0.5, 30.0, max_drop=0.25), True, Gates(0.75, 30.0)),
    ],
)
def test_what_held_back_samples_have_to_reach(gates, here, held) -> None:
    assert Aim(gates, here).held == held


def test_gates_hold_on_data_that_chose_nothing(shared, tmp_path) -> None:
    """Test samples of other speakers are worse than held-back ones."""
    entry = ZOO["vowels"]
    calibration, test, _ = entry.arrays(shared)
    np.save(tmp_path / "calibration.npy", calibration)
    np.save(tmp_path / "test.npy", test)
    gates = Gates(min_sqnr=45.0)
    options = ConvertOptions(int16=("auto",), goal=gates)
    path, data = entry.path(shared), tmp_path / "calibration.npy"
    project = pipeline.convert(path, data, "nrf52840-dk", tmp_path / "out", options)
    samples = load_samples(tmp_path / "test.npy", read(load_model(path), "vowels").inputs)
    found = judge_model(load_model(path), flattened(project.graph()), samples, gates=gates)
    assert found.comparison.passed, found.comparison.reasons


def test_pure_int8_and_int16_contradict_each_other() -> None:
    with pytest.raises(InputRefused, match="int16 codes"):
        ConvertOptions(int16=("a",), pure_int8=True)
