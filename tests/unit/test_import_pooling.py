"""Pooling and ReduceMean against ONNX Runtime (R9, R16, R17, R19)."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.import_oracle import agree, kinds, model, node, normal

AUTO_PADS = ("VALID", "SAME_UPPER", "SAME_LOWER")


@st.composite
def pools(draw, op_type: str, rank: int):
    """A model with one pool of random geometry."""
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    attributes = {
        "kernel_shape": kernel,
        "strides": [draw(st.integers(1, 4)) for _ in range(rank)],
    }
    opset = draw(st.sampled_from([7, 10, 11, 12, 13, 19, 22, 23]))
    if opset >= 10 and draw(st.booleans()):
        attributes["ceil_mode"] = 1
    if draw(st.booleans()):
        attributes["pads"] = [draw(st.integers(0, k - 1)) for k in kernel * 2]
    if op_type == "AveragePool" and draw(st.booleans()):
        attributes["count_include_pad"] = 1
    size = [draw(st.integers(4, 9)) for _ in range(rank)]
    return model(node(op_type, "x", **attributes), x=(1, 3, *size), opset=opset)


@settings(max_examples=80, deadline=None)
@given(pools("MaxPool", 2))
def test_max_pool_2d_of_any_geometry(proto):
    agree(proto)


@settings(max_examples=40, deadline=None)
@given(pools("MaxPool", 1))
def test_max_pool_1d_of_any_geometry(proto):
    agree(proto)


@settings(max_examples=120, deadline=None)
@given(pools("AveragePool", 2))
def test_average_pool_2d_of_any_geometry(proto):
    agree(proto)


@settings(max_examples=40, deadline=None)
@given(pools("AveragePool", 1))
def test_average_pool_1d_of_any_geometry(proto):
    agree(proto)


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("mode", AUTO_PADS)
@pytest.mark.parametrize("kernel", [2, 3, 4])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("ceil", [0, 1])
def test_r17_auto_pad_of_pools(op_type, mode, kernel, stride, ceil):
    pool = node(
        op_type, "x", kernel_shape=[kernel, kernel], strides=[stride, stride], auto_pad=mode,
        ceil_mode=ceil,
    )  # fmt: skip
    agree(model(pool, x=(1, 2, 7, 8)))


def test_r17_count_include_pad_with_same_padding():
    pool = node("AveragePool", "x", kernel_shape=[3, 2], auto_pad="SAME_UPPER", count_include_pad=1)
    agree(model(pool))


@pytest.mark.parametrize("shape", [(1, 3, 5), (1, 3, 5, 4), (1, 3, 2, 3, 4)])
@pytest.mark.parametrize("opset", [7, 13, 22])
def test_global_average_pool_of_any_rank(shape, opset):
    agree(model(node("GlobalAveragePool", "x"), x=shape, opset=opset))


@settings(max_examples=120, deadline=None)
@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=3).map(lambda s: (1, *s)),
    data=st.data(),
)
def test_reduce_mean_over_any_axes(shape, data):
    rank = len(shape)
    axes = data.draw(st.lists(st.integers(-rank, rank - 1), unique_by=lambda a: a % rank))
    opset = data.draw(st.sampled_from([7, 11, 13, 17, 18, 23]))
    attributes = {"keepdims": data.draw(st.integers(0, 1))}
    if not axes:
        mean, constants = node("ReduceMean", "x", **attributes), {}
    elif opset < 18:
        assume(opset >= 11 or min(axes) >= 0)
        mean, constants = node("ReduceMean", "x", axes=axes, **attributes), {}
    else:
        mean, constants = node("ReduceMean", "x a", **attributes), {"a": np.array(axes)}
    agree(model(mean, x=shape, opset=opset, **constants))


def test_reduce_mean_with_noop_and_no_axes_is_the_identity():
    agree(model(node("ReduceMean", "x", noop_with_empty_axes=1), opset=18))


def test_reduce_mean_with_an_empty_list_of_axes_reduces_all():
    agree(model(node("ReduceMean", "x a"), opset=18, a=np.array([], np.int64)))


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("axes", [[2, 3], [-1, -2]])
def test_reduce_mean_over_space_of_a_conv_needs_no_transpose(axes, keep):
    nodes = [node("Conv", "x w", "c"), node("ReduceMean", "c", axes=axes, keepdims=keep)]
    graph = agree(model(*nodes, w=normal(4, 3, 3, 3)))
    assert kinds(graph).count("Transpose") <= 1


def test_reduce_mean_over_channels_last_space():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 3, 1, 2]), node("Conv", "t w", "c"),
        node("Transpose", "c", "l", perm=[0, 2, 3, 1]),
        node("ReduceMean", "l", "r", axes=[1, 2], keepdims=0), node("MatMul", "r v"),
    ]  # fmt: skip
    graph = agree(model(*nodes, x=(1, 8, 8, 3), w=normal(4, 3, 3, 3), v=normal(4, 2)))
    assert "Transpose" not in kinds(graph)


def test_global_average_pool_squeeze_and_gemm_of_a_conv():
    nodes = [
        node("Conv", "x w", "c"), node("Relu", "c", "r"), node("GlobalAveragePool", "r", "p"),
        node("Squeeze", "p a", "s"), node("MatMul", "s v"),
    ]  # fmt: skip
    graph = agree(model(*nodes, w=normal(4, 3, 3, 3), a=np.array([2, 3]), v=normal(4, 2)))
    assert kinds(graph).count("Transpose") == 1


def test_max_pool_then_relu_is_one_operator():
    nodes = [node("MaxPool", "x", "m", kernel_shape=[2, 2]), node("Relu", "m")]
    assert "Unary" not in kinds(agree(model(*nodes)))
