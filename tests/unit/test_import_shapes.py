"""Operators that move or regroup elements, Softmax and shape arithmetic (R16, R19, R22)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from tests.unit.import_oracle import agree, kinds, model, node, normal

SHAPE = (1, 3, 4, 6)


ZERO = helper.make_tensor("v", 7, [1], [0])


def ints(*values: int):
    return np.array(values, np.int64)


@pytest.mark.parametrize("axis", [-4, -3, -1, 0, 1, 2, 3, 4])
@pytest.mark.parametrize("opset", [11, 13, 21])
def test_flatten_at_every_axis(axis, opset):
    agree(model(node("Flatten", "x", axis=axis), x=SHAPE, opset=opset))


@pytest.mark.parametrize(
    "target",
    [
        (1, 72),
        (1, -1),
        (0, -1),
        (-1, 72),
        (0, 3, -1),
        (1, 4, 3, 6),
        (0, 0, 24),
        (0, 0, 0, 6),
        (-1,),
    ],
)
@pytest.mark.parametrize("opset", [7, 13, 14, 23])
def test_reshape_with_copied_and_inferred_dimensions(target, opset):
    agree(model(node("Reshape", "x s"), x=SHAPE, opset=opset, s=ints(*target)))


def test_reshape_with_allowzero_and_no_zero():
    agree(model(node("Reshape", "x s", allowzero=1), x=SHAPE, opset=14, s=ints(1, -1, 6)))


def test_r15_reshape_whose_batch_is_written_into_the_model_takes_batch_1():
    from toolchain.frontend.read import read

    proto = model(node("Reshape", "x s"), x=("N", 3, 4), s=ints(8, 12))
    assert read(proto, "m").graph.types["y"].shape == (1, 12)


@pytest.mark.parametrize("axes", [None, (0,), (2,), (-2,), (0, 2), (2, 3)])
@pytest.mark.parametrize("opset", [7, 11, 13, 23])
def test_r16_squeeze_by_attribute_and_by_input(axes, opset):
    if opset < 11 and axes is not None and min(axes) < 0:
        pytest.skip("negative axes came with opset 11")
    attributes = {"axes": list(axes)} if axes is not None and opset < 13 else {}
    constants = {"a": ints(*axes)} if axes is not None and opset >= 13 else {}
    squeeze = node("Squeeze", ["x", *constants], **attributes)
    agree(model(squeeze, x=(1, 5, 1, 1), opset=opset, **constants))


@pytest.mark.parametrize("axes", [(0,), (1,), (-1,), (0, 1), (2, 4), (-1, 0)])
@pytest.mark.parametrize("opset", [7, 11, 13, 23])
def test_r16_unsqueeze_by_attribute_and_by_input(axes, opset):
    if opset < 11 and min(axes) < 0:
        pytest.skip("negative axes came with opset 11")
    attributes = {"axes": list(axes)} if opset < 13 else {}
    constants = {"a": ints(*axes)} if opset >= 13 else {}
    agree(model(node("Unsqueeze", ["x", *constants], **attributes), x=(1, 5, 4), opset=opset,
                **constants))  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(rank=st.integers(1, 5), data=st.data())
def test_transpose_by_any_permutation(rank, data):
    shape = (1, *(data.draw(st.integers(1, 4)) for _ in range(rank - 1)))
    perm = data.draw(st.permutations(range(rank)))
    agree(model(node("Transpose", "x", perm=perm), x=shape))


def test_transpose_without_perm_reverses():
    agree(model(node("Transpose", "x"), x=SHAPE))


@settings(max_examples=80, deadline=None)
@given(rank=st.integers(1, 4), data=st.data())
def test_concat_along_any_axis_with_constants_and_repeats(rank, data):
    axis = data.draw(st.integers(-rank, rank - 1))
    opset = data.draw(st.sampled_from([11, 13, 23]))
    base = [1, *(data.draw(st.integers(1, 4)) for _ in range(rank - 1))]
    inputs, constants = {}, {}
    for name in "abc":
        base[axis] = data.draw(st.integers(1, 4))
        inputs[name] = tuple(base)
    base[axis] = 2
    constants["k"] = normal(*base)
    order = data.draw(st.lists(st.sampled_from("abck"), min_size=1, max_size=5))
    inputs = {n: s for n, s in inputs.items() if n in order}
    if not inputs:
        return
    concat = node("Concat", order, axis=axis)
    agree(model(concat, inputs=inputs, opset=opset, **constants))


@pytest.mark.parametrize("axis", [1, 2, 3, -1])
def test_r19_concat_of_convs_along_any_axis_keeps_the_layout(axis):
    nodes = [
        node("Conv", "x w", "a", pads=[1, 1, 1, 1]), node("Conv", "x v", "b", pads=[1, 1, 1, 1]),
        node("Concat", "a b", "c", axis=axis), node("Conv", "c u"),
    ]  # fmt: skip
    channels = 8 if axis == 1 else 4
    constants = {"w": normal(4, 3, 3, 3), "v": normal(4, 3, 3, 3, seed=1)}
    graph = agree(model(*nodes, u=normal(2, channels, 2, 2), **constants))
    assert kinds(graph).count("Transpose") == 2


def test_r19_concat_of_a_conv_and_a_constant():
    nodes = [node("Conv", "x w", "a"), node("Concat", "k a", "c", axis=1), node("Conv", "c u")]
    constants = {"w": normal(4, 3, 3, 3), "k": normal(1, 2, 6, 6), "u": normal(2, 6, 2, 2)}
    assert kinds(agree(model(*nodes, **constants))).count("Transpose") == 2


@settings(max_examples=80, deadline=None)
@given(rank=st.integers(1, 4), data=st.data())
def test_r16_softmax_follows_the_opset(rank, data):
    op_type = data.draw(st.sampled_from(["Softmax", "LogSoftmax"]))
    opset = data.draw(st.sampled_from([7, 9, 11, 12, 13, 17, 23]))
    shape = (1, *(data.draw(st.integers(1, 5)) for _ in range(rank - 1)))
    low = -rank if opset >= 11 else 0
    attributes = {"axis": data.draw(st.integers(low, rank - 1))}
    if data.draw(st.booleans()) and (rank > 1 or opset >= 13):
        attributes = {}
    agree(model(node(op_type, "x", **attributes), x=shape, opset=opset))


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax"])
def test_r19_softmax_over_the_channels_of_a_conv_is_over_its_last_axis(op_type, opset):
    nodes = [node("Conv", "x w", "c"), node(op_type, "c", axis=1)]
    graph = agree(model(*nodes, opset=opset, w=normal(4, 3, 3, 3)))
    assert kinds(graph).count("Transpose") == (1 if opset == 13 else 2) + (opset == 13)


@pytest.mark.parametrize("opset", [7, 10, 12, 13, 22])
def test_dropout_in_inference_is_the_identity(opset):
    if opset < 12:
        agree(model(node("Dropout", "x", ratio=0.5), opset=opset))
    else:
        agree(model(node("Dropout", "x r", seed=3), opset=opset, r=np.float32(0.5)))


@pytest.mark.parametrize("to", [1, 11])
def test_cast_between_float_types_is_the_identity(to):
    nodes = [node("Cast", "x", "d", to=to), node("Cast", "d", to=1)]
    agree(model(*nodes))


def shape_chain(flat: str, batch_axis: int = 0) -> list:
    """x.view(x.size(0), -1) as exporters spell it."""
    return [
        node("Shape", flat, "s"),
        node("Gather", "s i0", "n", axis=0),
        node("Unsqueeze", "n a0", "n1"),
        node("Concat", "n1 minus", "target", axis=0),
        node("Reshape", [flat, "target"], "f"),
    ]


def test_r22_view_by_shape_arithmetic_folds_away():
    nodes = [node("Conv", "x w", "c"), *shape_chain("c"), node("Gemm", "f u")]
    constants = {"i0": np.int64(0), "a0": ints(0), "minus": ints(-1)}
    graph = agree(model(*nodes, w=normal(4, 3, 3, 3), u=normal(144, 5), **constants))
    assert kinds(graph) == ["Transpose", "Conv2D", "Reshape", "FullyConnected"]


def test_r22_shape_with_start_and_end_slices_and_arithmetic_fold_away():
    nodes = [
        node("Shape", "x", "s", start=1, end=-1), node("ReduceProd", "s", "p", keepdims=1),
        node("Cast", "p", "pf", to=1), node("Sqrt", "pf", "q"), node("Mul", "q q", "p2"),
        node("Round", "p2", "p3"), node("Cast", "p3", "p4", to=7),
        node("Concat", "one p4 minus", "t", axis=0), node("Reshape", "x t"),
    ]  # fmt: skip
    agree(model(*nodes, x=SHAPE, opset=15, one=ints(1), minus=ints(-1)))


def test_r22_pads_from_constant_of_shape_and_slices_fold_away():
    nodes = [
        node("ConstantOfShape", "n", "z", value=ZERO),
        node("Concat", "p z", "q", axis=0), node("Reshape", "q two", "r"),
        node("Slice", "r s0 e0 a0 st", "w"), node("Transpose", "w", "v", perm=[1, 0]),
        node("Reshape", "v minus", "u"), node("Pad", "x u"),
    ]  # fmt: skip
    agree(model(*nodes, x=(1, 3, 5), opset=13, n=ints(4), p=ints(2, 1), two=ints(-1, 2),
                s0=ints(-1), e0=ints(-999), a0=ints(0), st=ints(-1), minus=ints(-1)))  # fmt: skip


def test_size_of_a_tensor_is_a_constant():
    nodes = [node("Size", "x", "n"), node("Cast", "n", "f", to=1), node("Div", "x f")]
    agree(model(*nodes))


def test_r19_one_dimensional_net_with_permutes_as_torch_exports_it():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 2, 1]), node("Conv", "t w", "c", pads=[1, 1]),
        node("Relu", "c", "r"), node("MaxPool", "r", "m", kernel_shape=[2], strides=[2]),
        node("Transpose", "m", "l", perm=[0, 2, 1]), node("MatMul", "l v", "k"),
        node("ReduceMean", "k", axes=[1], keepdims=0),
    ]  # fmt: skip
    graph = agree(model(*nodes, x=(1, 10, 6), w=normal(4, 6, 3), v=normal(4, 3)))
    assert "Transpose" not in kinds(graph)


def test_scalar_result_of_a_mean_over_everything():
    nodes = [
        node("Relu", "x", "r"), node("ReduceMean", "r", "m", keepdims=0), node("Mul", "m c", "k"),
        node("Add", "k d"),
    ]  # fmt: skip
    agree(model(*nodes, c=np.float32(2), d=np.float32(1)))
