"""Every operator as ONNX nodes: ONNX Runtime is at most one step from the integer model."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import onnx
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.ops.host import any_codes, codes_of, example_graph, quantized, random_inputs
from tests.quantized.models import integers
from toolchain.check.exported import check_export
from toolchain.emit import qdq_model
from toolchain.errors import InputRefused
from toolchain.frontend.session import FloatSession
from toolchain.ir import DType, Example, Graph, Op, Quant, TensorType
from toolchain.ir.execute import simulate
from toolchain.ir.fixedpoint import dequantize, symmetric
from toolchain.ops._functions import FUNCTIONS
from toolchain.ops._windows import Window
from toolchain.ops.conv_transpose import ConvTranspose2D
from toolchain.ops.unary import Unary, clip_expression
from toolchain.ops.wide.table import Int16Unary

X = ("x",)


def _largest(graph: Graph, samples) -> int:
    exported = qdq_model(graph)
    onnx.checker.check_model(exported.model, full_check=True)
    check = check_export(exported, graph, samples)
    return max(seen.largest for seen in (*check.layers, *check.outputs))


@pytest.mark.parametrize("name", sorted(Op.registry))
@pytest.mark.parametrize("seed", range(8))
def test_every_operator(name, seed):
    rng = np.random.default_rng(500 + seed)
    graph = example_graph(Op.registry[name].example(rng))
    floats = [random_inputs(graph, rng) for _ in range(4)]
    integer = quantized(graph, floats)
    extreme = [{x: any_codes(integer, x, rng) for x in graph.inputs} for _ in range(3)]
    assert _largest(integer, [*(codes_of(integer, s) for s in floats), *extreme]) <= 1


_NOT_ALWAYS_READ = {"ConvTranspose2D", "Div", "Int16Unary", "MatMul", "Normalize"}
"""Operators with a form that onnx2mcu does not read, or reads as something else."""


@pytest.mark.parametrize("name", sorted({*Op.registry} - _NOT_ALWAYS_READ))
@pytest.mark.parametrize("seed", range(6))
def test_what_is_read_again_gives_the_same_bytes(name, seed):
    rng = np.random.default_rng(900 + seed)
    graph = example_graph(Op.registry[name].example(rng))
    integer = quantized(graph, [random_inputs(graph, rng) for _ in range(3)])
    again = integers(qdq_model(integer).model, pruned=False).graph
    for _ in range(3):
        codes = {x: any_codes(integer, x, rng) for x in graph.inputs}
        expected, found = simulate(integer, codes), simulate(again, codes)
        for y in graph.outputs:
            np.testing.assert_array_equal(found[y], expected[y])


def _table(expression, x: Quant, y: Quant) -> tuple[Graph, list]:
    shape = (1, 256)
    types = {"x": TensorType(shape, DType.INT8, x), "y": TensorType(shape, DType.INT8, y)}
    graph = Graph("table", (Unary("u", ("x",), ("y",), expression),), types, {}, ("x",), ("y",))
    return graph, [{"x": np.arange(-128, 128).astype(np.int8).reshape(shape)}]


_ARGUMENTS = {
    "leaky_relu": 1, "elu": 1, "celu": 1, "threshold": 1, "shrink": 2, "add": 1, "sub": 1,
    "mul": 1, "div": 1, "max": 1, "min": 1, "pow": 1, "mod": 1, "fmod": 1,
}  # fmt: skip


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
@pytest.mark.parametrize(("scale", "zero"), [(0.1, 0), (0.3, 127), (0.0125, -128), (0.7, 5)])
def test_every_function_at_every_code(function, scale, zero):
    """Poles, steps and codes outside the domain included."""
    arguments = [("const", value) for value in (0.7, 0.3)[: _ARGUMENTS.get(function, 0)]]
    x, y = Quant((float(np.float32(scale)),), zero), Quant((float(np.float32(0.05)),), -3)
    graph, samples = _table((function, X, *arguments), x, y)
    assert _largest(graph, samples) <= 1


@pytest.mark.parametrize("function", ["sigmoid", "tanh", "exp", "sqrt", "log", "hard_swish"])
@pytest.mark.parametrize("scale", [2.0**-15, 2.0**-12, 2.0**-8, 0.03])
def test_int16_tables_at_every_code(function, scale):
    """Those that float32 does not come near to are written as tables of 65,536 codes."""
    step = 2.0**-15 if function in ("sigmoid", "tanh") else 2.0**-10
    parts = {"hard_swish": ("mul", X, ("sigmoid", X))}
    expression = parts.get(function, (function, X))
    codes = np.arange(-(2**15), 2**15).astype(np.int16).reshape(1, -1)
    kinds = [TensorType(codes.shape, DType.INT16, symmetric(s)) for s in (scale, step)]
    types = dict(zip("xy", kinds, strict=True))
    graph = Graph("table", (Int16Unary("u", X, ("y",), expression),), types, {}, X, ("y",))
    assert _largest(graph, [{"x": codes}]) <= 1
    nodes = {n.op_type for n in qdq_model(graph).model.graph.node}
    if function == "tanh":
        assert ("Gather" in nodes) == (scale == 2.0**-8)


@pytest.mark.parametrize(
    "expression",
    [
        ("mul", X, ("sigmoid", X)),
        clip_expression(0.0, None),
        clip_expression(-0.5, 1.25),
        ("min", ("max", ("add", ("mul", X, ("const", 0.2)), ("const", 0.5)), ("const", 0.0)),
         ("const", 1.0)),
        ("sub", ("const", 1.0), X),
        ("const", 0.25),
        X,
        ("log", ("sub", ("mul", X, X), ("const", 4.0))),  # not defined in the middle
    ],
)  # fmt: skip
def test_composed_functions_at_every_code(expression):
    x, y = Quant((float(np.float32(0.05)),), 10), Quant((float(np.float32(0.04)),), -20)
    graph, samples = _table(expression, x, y)
    assert _largest(graph, samples) <= 1


def test_what_float32_gives_is_written_as_nodes():
    """Tables are the exception: only where float32 computes something else."""
    quant = Quant((0.1,), 0)
    ordinary, _ = _table(("tanh", X), quant, quant)
    assert [n.op_type for n in qdq_model(ordinary).model.graph.node] == [
        "QuantizeLinear", "DequantizeLinear", "Tanh", "QuantizeLinear", "DequantizeLinear",
    ]  # fmt: skip
    stepped, _ = _table(("floor", X), Quant((float(np.float32(0.7)),), 5), Quant((0.05,), 0))
    assert "Gather" in {n.op_type for n in qdq_model(stepped).model.graph.node}


def test_more_rows_than_onnx_can_append():
    rng = np.random.default_rng(3)
    op = ConvTranspose2D("up", ("x", "w", "b"), ("y",), Window((2, 2), (1, 2), (0, 1, -2, -2)))
    example = Example(
        op,
        {"x": (1, 3, 4, 2)},
        {
            "w": rng.standard_normal((3, 2, 2, 2)).astype(np.float32),
            "b": rng.standard_normal(3).astype(np.float32),
        },
    )
    graph = example_graph(example)
    floats = [random_inputs(graph, rng) for _ in range(4)]
    integer = quantized(graph, floats)
    assert _largest(integer, [codes_of(integer, s) for s in floats]) <= 1


def test_weights_and_bias_are_those_of_the_firmware():
    rng = np.random.default_rng(4)
    graph = example_graph(Op.registry["Conv2D"].example(rng))
    integer = quantized(graph, [random_inputs(graph, rng)])
    (op,) = integer.ops
    stored = {
        t.name: onnx.numpy_helper.to_array(t) for t in qdq_model(integer).model.graph.initializer
    }
    weights, bias = stored[f"{op.inputs[1]}_quantized"], stored[f"{op.inputs[2]}_quantized"]
    assert weights.dtype == np.int8
    np.testing.assert_array_equal(
        weights, integer.constants[op.inputs[1]].transpose(0, 3, 1, 2), strict=True
    )
    np.testing.assert_array_equal(bias, integer.constants[op.inputs[2]], strict=True)
    scales = np.array(integer.types[op.inputs[1]].q.scales, np.float32)
    product = integer.types[op.x].q.scale * scales.astype(np.float64)
    np.testing.assert_array_equal(stored[f"{op.inputs[2]}_scale"], product.astype(np.float32))


@dataclass(frozen=True, slots=True)
class _Private(Op):
    """An operator that ONNX does not know."""

    kernels: ClassVar = ()

    def infer(self, types):
        return (types[self.x].shape,)

    def evaluate(self, *values):
        return values

    def simulate(self, types, *codes):  # noqa: ARG002 - part of the contract
        return codes

    @classmethod
    def example(cls, rng):
        raise NotImplementedError


def test_operators_without_a_form_are_refused_together():
    kind = TensorType((1, 4), DType.INT8, Quant((0.1,), 0))
    ops = (
        _Private("first", ("x",), ("a",)),
        Unary("fine", ("a",), ("b",), ("tanh", X)),
        _Private("second", ("b",), ("y",)),
    )
    graph = Graph("g", ops, dict.fromkeys("xaby", kind), {}, ("x",), ("y",))
    with pytest.raises(InputRefused, match="first, second: _Private has no form in ONNX"):
        qdq_model(graph)


def test_a_wrong_model_is_found():
    """The check itself: a weight that differs shows up in its layer, and only there."""
    rng = np.random.default_rng(8)
    graph = example_graph(Op.registry["FullyConnected"].example(rng))
    floats = [random_inputs(graph, rng) for _ in range(2)]
    integer = quantized(graph, floats)
    exported = qdq_model(integer)
    (weights,) = (
        t for t in exported.model.graph.initializer if t.name.endswith("weights_quantized")
    )
    values = onnx.numpy_helper.to_array(weights).copy()
    values.flat[0] = -values.flat[0] - 1
    weights.CopyFrom(onnx.numpy_helper.from_array(np.roll(values, 1), weights.name))
    check = check_export(exported, integer, [codes_of(integer, s) for s in floats])
    assert check.layers[0].largest > 1
    assert check.outputs[0].differing


def test_outputs_are_the_reals_of_the_codes():
    quant = Quant((float(np.float32(0.013)),), -7)
    graph, samples = _table(("tanh", X), quant, quant)
    given = dequantize(samples[0]["x"], quant)
    found = FloatSession(qdq_model(graph).model).run({"x": given})["y"]
    expected = dequantize(simulate(graph, samples[0])["y"], quant)
    np.testing.assert_allclose(found, expected, atol=1.01 * quant.scale)
