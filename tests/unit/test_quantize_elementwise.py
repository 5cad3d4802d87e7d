"""Element-wise operators after quantisation: scales, overflow, and how far codes are off."""

import numpy as np
import pytest

from tests.unit.import_oracle import kinds, model, node, normal
from tests.unit.quantize_oracle import errors, integer, random_codes, simulate, watched_arithmetic
from toolchain.ir import Quant, TensorType
from toolchain.ir.fixedpoint import dequantize
from toolchain.ops.div import Div
from toolchain.ops.extremum import Extremum

SHAPE, GATE = (1, 3, 4, 5), (1, 3, 1, 1)


def test_extremes_are_taken_at_one_scale():
    nodes = [node("MatMul", "a w", "p"), node("MatMul", "b v", "q"), node("Max", "p q")]
    proto = model(*nodes, inputs={"a": (1, 6), "b": (1, 6)}, w=normal(6, 4), v=3 * normal(6, 4))
    done = integer(proto).graph
    (op,) = [op for op in done.ops if isinstance(op, Extremum)]
    assert kinds(done) == ["FullyConnected", "FullyConnected", "Extremum"]
    assert len({done.types[n].quant for n in (*op.inputs, op.y)}) == 1
    assert errors(proto, done)["y"] < 2


def test_extremes_of_tensors_that_others_read_go_through_a_table():
    nodes = [node("Sigmoid", "a", "s"), node("Min", "s b", "m"), node("Mul", "s m")]
    done = integer(model(*nodes, inputs={"a": SHAPE, "b": SHAPE})).graph
    (op,) = [op for op in done.ops if isinstance(op, Extremum)]
    assert len({done.types[n].quant for n in (*op.inputs, op.y)}) == 1
    assert kinds(done).count("Unary") == 3


@pytest.mark.parametrize("op_type", ["Min", "Max", "Sum", "Mean"])
def test_constant_operands_of_many(op_type):
    inputs = {"a": SHAPE, "b": GATE}
    proto = model(node(op_type, "a k b"), inputs=inputs, k=normal(3, 1, 5))
    done = integer(proto).graph
    assert errors(proto, done)["y"] < 3


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul"])
def test_operands_that_broadcast(op_type):
    proto = model(node(op_type, "a b"), inputs={"a": SHAPE, "b": GATE})
    assert errors(proto, integer(proto).graph)["y"] < 3


def test_prelu_of_slopes_of_many_sizes():
    slope = np.array([0.01, 0.25, 1.0], np.float32).reshape(3, 1, 1)
    proto = model(node("PRelu", "x slope"), x=SHAPE, slope=slope)
    assert errors(proto, integer(proto).graph)["y"] < 2


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "PRelu", "Sum", "Div"])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_constants_of_any_size_cannot_overflow(op_type, size):
    """Of an output whose calibrated range is far smaller than what its codes can reach."""
    operands = "x k x" if op_type == "Sum" else "x k"
    k, x = np.full((3, 4, 1), 1e-9, np.float32), np.full(SHAPE, -1e-3, np.float32)
    k[0], x[:, 0] = 1, 0
    if op_type == "Div":
        k = 1 / k
    proto = model(node(op_type, operands), x=SHAPE, k=size * k)
    samples = [{"x": x}, {"x": -x}]
    done = integer(proto, samples).graph
    rng = np.random.default_rng(1)
    with watched_arithmetic():
        for extreme in (True, False):
            simulate(done, random_codes(done, rng, extreme=extreme))


def _quotients(a: Quant, b: Quant, y: Quant):
    """(codes of every quotient, real quotients, divisors) over all pairs of codes."""
    kinds = {n: TensorType((256, 1) if n == "a" else (1, 256), quant=q) for n, q in
             (("a", a), ("b", b), ("y", y))}  # fmt: skip
    codes = np.arange(-128, 128, dtype=np.int8)
    (got,) = Div("n", ("a", "b"), ("y",)).simulate(kinds, codes[:, None], codes[None])
    with np.errstate(divide="ignore", invalid="ignore"):
        real = dequantize(codes, a).astype(float)[:, None] / dequantize(codes, b).astype(float)
    return got, real, codes.astype(int) - b.zero_point


@pytest.mark.parametrize("ratio", [1e-6, 0.01, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("zero", [-128, -3, 127])
def test_every_quotient_of_two_codes_is_rounded_well(ratio, zero):
    y = Quant((0.05,), -20)
    got, real, divisors = _quotients(Quant((0.05 * ratio,), 5), Quant((1.0,), zero), y)
    exact = np.clip(real / y.scale + y.zero_point, -128, 127)[:, divisors != 0]
    assert np.abs(got[:, divisors != 0] - exact).max() <= 0.51


@pytest.mark.parametrize(("zero", "sign"), [(-128, 1), (0, 1), (127, -1)])
def test_a_quotient_by_zero_saturates_towards_its_side(zero, sign):
    got, _, divisors = _quotients(Quant((1.0,), 0), Quant((1.0,), zero), Quant((1.0,), 7))
    (column,) = got[:, divisors == 0].T
    positive, negative = (127, -128) if sign > 0 else (-128, 127)
    assert column.tolist() == [negative] * 128 + [7] + [positive] * 127
