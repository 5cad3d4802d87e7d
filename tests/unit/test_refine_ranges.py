"""Ranges of rescaled tensors and of tensors that a function is computed from."""

import numpy as np
import pytest

from tests.unit.refine_nets import chain_net, samples_of
from toolchain.ir import Graph, Origin, TensorType
from toolchain.ops._windows import Window
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.conv_transpose import ConvTranspose2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.prelu import PRelu
from toolchain.ops.softmax import Softmax
from toolchain.ops.take import Take
from toolchain.ops.unary import Unary, evaluate_expression
from toolchain.quant.calibrate import Profile
from toolchain.quant.chains import find_chains
from toolchain.quant.equalize import absorb, equalize
from toolchain.quant.histogram import Histogram
from toolchain.quant.ranges import choose_range, mse_range
from toolchain.quant.refine import extents
from toolchain.quant.search import function_behind
from toolchain.quant.trial import float_values, judged

SIGMOID = ("sigmoid", ("x",))
LEAKY = ("max", ("x",), ("mul", ("const", 0.1), ("x",)))


@pytest.mark.parametrize("seed", range(6))
def test_ranges_of_rescaled_tensors_are_those_measured(seed):
    rng = np.random.default_rng(seed)
    graph = chain_net(rng, bias=2.0, padded=False)
    samples = samples_of(graph, rng, 30)
    even = absorb(equalize(graph, extents(graph, samples), 1.0), extents(graph, samples))
    names = [op.y for op in graph.ops]
    before, after = (float_values(g, samples, names) for g in (graph, even))
    changed = 0
    for name in names:
        profile = Profile(graph.origins[name])
        for value in before[name]:
            profile.add(value)
        moved = choose_range(profile.moved(even.origins[name]), "minmax")
        seen = Profile()
        seen.add(after[name])
        measured = choose_range(seen.histogram, "minmax")
        width = measured.high - measured.low
        assert moved.low == pytest.approx(measured.low, abs=1e-4 * width)
        assert moved.high == pytest.approx(measured.high, abs=1e-4 * width)
        changed += even.origins[name] != graph.origins[name]
    assert changed


def test_a_profile_of_nothing_has_an_ordinary_range():
    profile = Profile(Origin("t"))
    profile.add(np.zeros((1, 0), np.float32))
    assert choose_range(profile.moved(Origin("t", gain=(2.0,))), "minmax").high == 1.0


def bent_net(rng):
    """conv, PRelu, conv, LeakyReLU, transposed conv, nearest upsampling, conv."""
    spread = 10.0 ** rng.uniform(-1.5, 0.5, (3, 6))
    constants = {
        "w0": rng.normal(size=(6, 3, 3, 2)) * spread[0][:, None, None, None],
        "slope": rng.uniform(0.05, 0.5, (1, 1, 1, 6)),
        "w1": rng.normal(size=(6, 1, 1, 6)) * spread[1][:, None, None, None],
        "w2": rng.normal(size=(6, 2, 2, 6)) * spread[2][:, None, None, None],
        "w3": rng.normal(size=(3, 1, 1, 6)),
    }
    constants |= {f"b{i}": rng.normal(size=n) for i, n in enumerate((6, 6, 6, 3))}
    constants = {n: v.astype(np.float32) for n, v in constants.items()}
    one, double = Window((1, 1)), tuple(np.repeat(range(8), 2).tolist())
    ops = (
        Conv2D("c0", ("x", "w0", "b0"), ("t0",), Window((3, 3), (1, 1), (1, 1, 1, 1))),
        PRelu("prelu", ("t0", "slope"), ("t1",)),
        Conv2D("c1", ("t1", "w1", "b1"), ("t2",), one),
        Unary("leaky", ("t2",), ("t3",), LEAKY),
        ConvTranspose2D("c2", ("t3", "w2", "b2"), ("t4",), Window((2, 2), (2, 2)), low=0.0),
        Take("up", ("t4",), ("t5",), (None, double, double, None)),
        Conv2D("c3", ("t5", "w3", "b3"), ("y",), one),
    )
    types = {"x": TensorType((1, 4, 4, 2))}
    types |= {n: TensorType(v.shape) for n, v in constants.items()}
    for op in ops:
        types |= {y: TensorType(s) for y, s in zip(op.outputs, op.infer(types), strict=True)}
    origins = {n: Origin(n) for n in ("x", *(op.y for op in ops))}
    return Graph("bent", ops, types, constants, ("x",), ("y",), origins)


@pytest.mark.parametrize("seed", range(4))
def test_factors_pass_bent_lines_copies_and_transposed_convolutions(seed):
    rng = np.random.default_rng(seed)
    graph = bent_net(rng)
    samples = samples_of(graph, rng, 20)
    chains = find_chains(graph)
    assert [set(c.tensors) for c in chains] == [{"t0", "t1"}, {"t2", "t3"}, {"t4", "t5"}]
    even = equalize(graph, extents(graph, samples), 1.0)
    expected, got = (float_values(g, samples, ["y"])["y"] for g in (graph, even))
    np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-4 * np.abs(expected).max())
    after = extents(even, samples)
    for chain in chains:
        largest = np.max([np.maximum(-after[n][0], after[n][1]) for n in chain.tensors], axis=0)
        np.testing.assert_allclose(largest, largest.max(), rtol=1e-3)


@pytest.mark.parametrize("expression", [SIGMOID, ("exp", ("x",)), ("add", ("x",), ("const", 1.0))])
def test_factors_do_not_pass_curves(expression):
    graph = bent_net(np.random.default_rng(0))
    ops = [Unary("u", op.inputs, op.outputs, expression) if op.name == "leaky" else op
           for op in graph.ops]  # fmt: skip
    chains = find_chains(graph.with_ops(ops, {}, {}))
    assert [set(c.tensors) for c in chains] == [{"t0", "t1"}, {"t4", "t5"}]


def test_where_a_function_is_flat_no_codes_are_spent():
    rng = np.random.default_rng(4)
    values = (rng.normal(size=20_000) * 12).astype(np.float32)
    seen = Histogram()
    seen.add(values)

    def function(x):
        return evaluate_expression(SIGMOID, x)

    def error(span):
        step = (span.high - span.low) / 255
        codes = np.clip(np.rint(values / step), np.rint(span.low / step), np.rint(span.high / step))
        return float(((function(codes * step) - function(values.astype(np.float64))) ** 2).mean())

    found = mse_range(seen, function)
    assert 4 < found.high < 12
    assert -12 < found.low < -4
    assert error(found) < 0.3 * error(mse_range(seen))
    assert mse_range(seen, lambda x: x) == mse_range(seen)


def head(last):
    types = {n: TensorType((1, 4)) for n in ("x", "z", "y")}
    constants = {"w": np.eye(4, dtype=np.float32), "b": np.zeros(4, np.float32)}
    types |= {n: TensorType(v.shape) for n, v in constants.items()}
    ops = (FullyConnected("dense", ("x", "w", "b"), ("z",)), last)
    return Graph("head", ops, types, constants, ("x",), ("y",), {n: Origin(n) for n in "xzy"})


def test_of_the_values_before_a_last_function_counts_what_its_codes_show():
    graph = head(Unary("sigmoid", ("z",), ("y",), SIGMOID))
    view = judged(graph)["z"]
    far, wide = np.array([[-9.0, 1.0, 20.0]]), np.array([[-99.0, 1.0, 7.0]])
    np.testing.assert_array_equal(view(far), view(wide))
    assert not np.array_equal(view(far), view(far * 0.5))
    assert function_behind(graph, "z") is not None
    assert function_behind(graph, "y") is None
    view = judged(head(Softmax("softmax", ("z",), ("y",))))["z"]
    np.testing.assert_array_equal(
        view(np.array([[-30.0, 0.0, 2.0]])), view(np.array([[-9.0, 1.0, 3.0]]))
    )
    assert set(judged(head(Unary("u", ("z",), ("y",), LEAKY)))) == {"y"}
