"""Gemm and MatMul against ONNX Runtime (R16, R19)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.import_oracle import agree, kinds, model, node, normal


@settings(max_examples=60, deadline=None)
@given(
    depth=st.integers(1, 9),
    width=st.integers(1, 6),
    trans=st.integers(0, 1),
    alpha=st.sampled_from([None, 0.5, -2.0]),
    beta=st.sampled_from([None, 0.0, 1.5]),
    bias=st.sampled_from(["none", "empty", "scalar", "one", "row", "matrix"]),
    opset=st.sampled_from([7, 9, 11, 13, 17, 23]),
)
def test_gemm_with_every_attribute(depth, width, trans, alpha, beta, bias, opset):
    attributes = {"transB": trans} if trans else {}
    attributes |= {} if alpha is None else {"alpha": alpha}
    attributes |= {} if beta is None else {"beta": beta}
    constants = {"w": normal(*((width, depth) if trans else (depth, width)))}
    inputs = ["x", "w"]
    shapes = {"scalar": (), "one": (1,), "row": (width,), "matrix": (1, width)}
    if bias == "empty" and opset >= 11:
        inputs = ["x", "w", ""]
    elif bias != "none" or opset < 11:
        inputs, constants["c"] = ["x", "w", "c"], normal(*shapes.get(bias, (width,)), seed=4)
    agree(model(node("Gemm", inputs, **attributes), x=(1, depth), opset=opset, **constants))


@pytest.mark.parametrize("shape", [(6,), (1, 6), (1, 4, 6), (1, 2, 3, 6)])
@pytest.mark.parametrize("bias", [None, (5,), (1, 5), (1,), ()])
def test_matmul_and_add_is_one_layer_on_any_rank(shape, bias):
    constants = {"w": normal(6, 5)}
    nodes = [node("MatMul", "x w", "y" if bias is None else "m")]
    if bias is not None:
        if len(bias) > len(shape):
            pytest.skip("would raise the rank")
        nodes.append(node("Add", "m b"))
        constants["b"] = normal(*bias, seed=3)
    graph = agree(model(*nodes, x=shape, **constants))
    assert [k for k in kinds(graph) if k != "Reshape"] == ["FullyConnected"]


def test_matmul_add_with_the_constant_first_is_one_layer():
    nodes = [node("MatMul", "x w", "m"), node("Add", "b m")]
    graph = agree(model(*nodes, x=(1, 6), w=normal(6, 5), b=normal(5)))
    assert kinds(graph) == ["FullyConnected"]


def test_matmul_with_a_matrix_of_leading_ones():
    agree(model(node("MatMul", "x w"), x=(1, 4, 6), w=normal(1, 6, 5)))


def test_matmul_add_relu_then_scaling_is_two_layers_at_most():
    nodes = [
        node("MatMul", "x w", "m"), node("Add", "m b", "a"), node("Mul", "a s", "k"),
        node("Relu", "k", "r"), node("MatMul", "r v"),
    ]  # fmt: skip
    constants = {"w": normal(6, 5), "b": normal(5), "s": normal(5, seed=8), "v": normal(5, 2)}
    graph = agree(model(*nodes, x=(1, 6), **constants))
    assert kinds(graph) == ["FullyConnected", "FullyConnected"]


def test_matmul_add_of_a_full_matrix_per_row_stays_an_addition():
    nodes = [node("MatMul", "x w", "m"), node("Add", "m b")]
    graph = agree(model(*nodes, x=(1, 4, 6), w=normal(6, 5), b=normal(4, 5)))
    assert "Add" in kinds(graph)


def test_gemm_over_several_rows():
    agree(model(node("Reshape", "x s", "r"), node("Gemm", "r w c"),
                x=(1, 3, 4), s=np.array([3, 4]), w=normal(4, 5), c=normal(5)))  # fmt: skip


@pytest.mark.parametrize("shape", [(3, 1), (3, 3)])
def test_gemm_bias_that_differs_by_row_is_never_taken_for_one_by_column(shape):
    from toolchain.errors import InputRefused

    proto = model(node("Reshape", "x s", "r"), node("Gemm", "r w c"),
                  x=(1, 3, 4), s=np.array([3, 4]), w=normal(4, 3), c=normal(*shape))  # fmt: skip
    with pytest.raises(InputRefused, match="bias C"):
        agree(proto)
