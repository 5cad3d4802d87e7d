"""Transposed and grouped convolution, products of activations, reductions, normalisation."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.import_oracle import agree, kinds, model, node, normal
from toolchain.errors import InputRefused

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


@st.composite
def transposed(draw, rank: int):
    """A model with one ConvTranspose of random geometry."""
    kernel, stride, dilation = (
        [draw(st.integers(1, high)) for _ in range(rank)] for high in (4, 3, 2)
    )
    size = [draw(st.integers(1, 5)) for _ in range(rank)]
    groups, depth, per_group = (draw(st.integers(1, 3)) for _ in range(3))
    attributes = {
        "kernel_shape": kernel, "strides": stride, "dilations": dilation, "group": groups
    }  # fmt: skip
    mode = draw(st.sampled_from(AUTO_PADS))
    extent = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    if mode != "NOTSET":
        attributes["auto_pad"] = mode
    elif draw(st.booleans()):
        attributes["pads"] = [draw(st.integers(0, e - 1)) for e in extent * 2]
    if draw(st.booleans()):
        attributes["output_padding"] = [
            draw(st.integers(0, max(s, d) - 1)) for s, d in zip(stride, dilation, strict=True)
        ]
    if mode != "VALID" and "pads" not in attributes and draw(st.booleans()):
        attributes["output_shape"] = [n * s for n, s in zip(size, stride, strict=True)]
    inputs, constants = "x w", {"w": normal(groups * depth, per_group, *kernel)}
    if draw(st.booleans()):
        inputs, constants["c"] = "x w c", normal(groups * per_group, seed=1)
    opset = draw(st.sampled_from([7, 11, 13, 22]))
    return model(
        node("ConvTranspose", inputs, **attributes),
        x=(1, groups * depth, *size),
        opset=opset,
        **constants,
    )


def positive_output(proto) -> bool:
    """Pads may cut off everything; such models are malformed."""
    try:
        agree(proto)
    except InputRefused as refusal:
        return "cut off" not in str(refusal)
    return True


@settings(max_examples=150, deadline=None)
@given(transposed(2))
def test_transposed_convolution_2d_of_any_geometry(proto):
    assume(positive_output(proto))


@settings(max_examples=60, deadline=None)
@given(transposed(1))
def test_transposed_convolution_1d_of_any_geometry(proto):
    assume(positive_output(proto))


def test_batch_norm_and_relu_fold_into_a_transposed_convolution():
    constants = {
        "w": normal(6, 2, 3, 3), "g": normal(4, seed=1), "b": normal(4, seed=2),
        "m": normal(4, seed=3), "v": normal(4, seed=4) ** 2,
    }  # fmt: skip
    graph = agree(
        model(
            node("ConvTranspose", "x w", "t", group=2, strides=[2, 2]),
            node("BatchNormalization", "t g b m v", "n"),
            node("Relu", "n"),
            x=(1, 6, 4, 5),
            **constants,
        )
    )
    assert "ConvTranspose2D" in kinds(graph)
    assert not {"Unary", "DepthwiseConv2D"} & set(kinds(graph))


@pytest.mark.parametrize("shift", [0.0, 0.5])
@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
def test_scales_before_grouped_layers_fold_forwards_where_that_is_exact(op_type, shift):
    shape = (6, 3, 2, 2) if op_type == "Conv" else (6, 2, 2, 2)
    graph = agree(
        model(
            node("Relu", "x", "r"),
            node("Mul", "r g", "m"),
            node("Add", "m s", "a"),
            node(op_type, "a w", group=2),
            x=(1, 6, 4, 5),
            g=normal(6, 1, 1, seed=5),
            s=shift * normal(6, 1, 1, seed=6),
            w=normal(*shape),
        )
    )
    folded = op_type == "Conv" or shift == 0
    assert ("DepthwiseConv2D" not in kinds(graph)) == folded


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
def test_grouped_convolution(rank, groups, dilation):
    graph = agree(
        model(
            node("Conv", "x w c", group=groups, dilations=[dilation] * rank, pads=[1] * 2 * rank),
            x=(1, 2 * groups, *(7, 6)[:rank]),
            w=normal(3 * groups, 2, *(3, 2)[:rank]),
            c=normal(3 * groups, seed=2),
        )
    )
    assert "GroupedConv2D" in kinds(graph)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((1, 4, 6), (1, 6, 5)),
        ((1, 2, 4, 6), (1, 2, 6, 5)),
        ((1, 2, 4, 6), (6, 5)),
        ((1, 2, 3, 4, 6), (1, 2, 1, 6, 5)),
        ((1, 1, 3, 4, 6), (1, 2, 1, 6, 5)),
        ((4, 6), (1, 3, 6, 5)),
        ((6,), (1, 3, 6, 5)),
        ((1, 3, 4, 6), (6,)),
        ((6,), (6, 5)),
    ],
)
@pytest.mark.parametrize("constant", ["", "a", "b"])
def test_matmul_of_any_ranks(a, b, constant):
    inputs = {"a": a, "b": b}
    constants = {constant: normal(*inputs.pop(constant))} if constant else {}
    agree(model(node("MatMul", "a b"), inputs=inputs, **constants))


def test_attention_walks_its_operands_in_place():
    shape = {"q": (1, 5, 8), "k": (1, 5, 8), "v": (1, 5, 8)}
    heads = np.array([1, 5, 2, 4], np.int64)
    nodes = [node("Reshape", f"{n} heads", f"{n}r") for n in "qkv"]
    nodes += [
        node("Transpose", "qr", "qt", perm=[0, 2, 1, 3]),
        node("Transpose", "kr", "kt", perm=[0, 2, 3, 1]),
        node("Transpose", "vr", "vt", perm=[0, 2, 1, 3]),
        node("MatMul", "qt kt", "s"),
        node("Div", "s root", "d"),
        node("Softmax", "d", "p", axis=-1),
        node("MatMul", "p vt", "y"),
    ]
    graph = agree(model(*nodes, inputs=shape, heads=heads, root=2.0))
    assert [k for k in kinds(graph) if k != "Reshape"] == ["MatMul", "Softmax", "MatMul"]


@pytest.mark.parametrize("constant", ["a", "b", "neither"])
@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("bias", [None, (4,), (1,)])
def test_gemm_with_activations(constant, trans_a, trans_b, bias):
    inputs = {"a": (6, 3) if trans_a else (3, 6), "b": (4, 6) if trans_b else (6, 4)}
    constants = {constant: normal(*inputs.pop(constant))} if constant in inputs else {}
    names = "a b"
    if bias is not None:
        names, constants["c"] = "a b c", normal(*bias, seed=9)
    proto = node("Gemm", names, transA=trans_a, transB=trans_b, alpha=0.5, beta=2.0)
    agree(model(proto, inputs=inputs, **constants))


REDUCTIONS = ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare"]


@pytest.mark.parametrize("op_type", REDUCTIONS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_reductions_over_any_axes(op_type, data):
    rank = data.draw(st.integers(1, 4))
    shape = [1, *(data.draw(st.integers(1, 4)) for _ in range(rank))]
    axes = data.draw(st.lists(st.integers(0, rank), min_size=1, max_size=rank, unique=True))
    axes = [a - rank - 1 if data.draw(st.booleans()) else a for a in axes]
    opset = data.draw(st.sampled_from([11, 13, 18]))
    attributes = {"keepdims": data.draw(st.sampled_from([0, 1]))}
    if opset == 18 or (op_type == "ReduceSum" and opset == 13):
        names, constants = "x a", {"a": np.array(axes, np.int64)}
    else:
        names, constants, attributes["axes"] = "x", {}, axes
    agree(model(node(op_type, names, **attributes), x=shape, opset=opset, **constants))


@pytest.mark.parametrize("shape", [(1, 3, 5), (1, 3, 4, 5)])
def test_global_max_pool(shape):
    agree(model(node("GlobalMaxPool", "x"), x=shape))


def test_a_reduction_over_space_needs_no_transpose():
    graph = agree(
        model(
            node("Conv", "x w", "c"),
            node("ReduceMax", "c", axes=[2, 3], keepdims=0),
            x=(1, 3, 6, 6),
            w=normal(4, 3, 3, 3),
        )
    )
    assert kinds(graph).count("Transpose") == 1  # of the input
