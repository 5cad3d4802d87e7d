"""Graphs of several inputs and outputs, and tensors that play two parts (R8, R24)."""

import numpy as np
import pytest

from tests.unit.import_oracle import model, node, normal, sample_of
from tests.unit.quantize_oracle import codes_of, errors, float_graph, integer, simulate


@pytest.mark.parametrize(
    ("nodes", "outputs"),
    [
        ([node("Add", "a b", "s"), node("Relu", "s", "y"), node("Tanh", "s", "z")], "y z"),
        ([node("Relu", "a", "y"), node("MatMul", "y w", "z")], "y z"),
        ([node("Identity", "a", "y"), node("Sub", "a b", "z")], "y z"),
        ([node("Mul", "a b", "y"), node("Identity", "y", "z")], "y z"),
        ([node("Reshape", "a t", "y"), node("Add", "a b", "z")], "y z"),
        ([node("Mul", "a a", "y"), node("Sub", "b a", "z")], "y z"),
    ],
)
def test_r24_outputs_are_right_whatever_else_reads_them(nodes, outputs):
    used = {x for n in nodes for x in n.input}
    constants = {
        k: c for k, c in {"w": normal(6, 4), "t": np.array([1, 2, 3])}.items() if k in used
    }
    inputs = {n: (1, 6) for n in "ab" if n in used}
    proto = model(*nodes, inputs=inputs, outputs=outputs, **constants)
    done = integer(proto, 6).graph
    assert max(errors(proto, done).values()) < 3
    codes = codes_of(done, sample_of(float_graph(proto)))
    first, second = simulate(done, codes), simulate(done, codes)
    for y in done.outputs:
        np.testing.assert_array_equal(first[y], second[y])


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul"])
@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_r8_operands_of_very_unequal_scales(op_type, ratio):
    proto = model(
        node("Mul", "b c", "d"), node(op_type, "a d"),
        inputs={"a": (1, 50), "b": (1, 50)}, c=np.float32(ratio),
    )  # fmt: skip
    assert max(errors(proto, integer(proto).graph).values()) < 4


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul"])
@pytest.mark.parametrize("order", ["x k", "k x"])
@pytest.mark.parametrize("size", [0.0, 1e-9, 1.0, 1e4])
def test_r8_a_full_constant_operand(op_type, order, size):
    k = size * normal(1, 3, 4, 5)
    proto = model(node(op_type, order), x=(1, 3, 4, 5), k=k)
    assert max(errors(proto, integer(proto).graph).values()) < 4
