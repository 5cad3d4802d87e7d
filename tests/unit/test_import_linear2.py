"""Transposed and grouped convolution, products of activations, reductions, normalisation."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.import_oracle import agree, kinds, model, node, normal
from toolchain.errors import InputRefused
from toolchain.frontend.norms import recognise_norms

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


@pytest.mark.parametrize("axis", [-1, 1, 2, 3])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("epsilon", [1e-5, 0.5])
def test_layer_normalization_from_any_axis(axis, bias, epsilon):
    shape = (1, 3, 4, 5)
    constants = {"s": normal(*shape[axis:])}
    if bias:
        constants["b"] = normal(*shape[axis:], seed=1)
    proto = node("LayerNormalization", ["x", *constants], axis=axis, epsilon=epsilon)
    graph = agree(model(proto, x=shape, opset=17, **constants))
    assert kinds(graph).count("Normalize") == 1


@pytest.mark.parametrize("shape", [(1, 3, 5), (1, 3, 4, 5)])
@pytest.mark.parametrize("alike", [True, False])
def test_instance_normalization(shape, alike):
    scale = np.ones(3, np.float32) if alike else normal(3)
    shift = np.zeros(3, np.float32) if alike else normal(3, seed=1)
    agree(model(node("InstanceNormalization", "x s b"), x=shape, s=scale, b=shift))


@pytest.mark.parametrize("opset", [18, 21])
@pytest.mark.parametrize("shape", [(1, 6, 5), (1, 6, 4, 5)])
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_normalization(opset, shape, groups):
    size = groups if opset == 18 else 6
    proto = node("GroupNormalization", "x s b", num_groups=groups)
    agree(model(proto, x=shape, opset=opset, s=normal(size), b=normal(size, seed=1)))


@pytest.mark.parametrize("axes", [None, [0, 2, 3], [2, 3], [1, 2, 3], [3], [1]])
def test_mean_variance_normalization(axes):
    attributes = {} if axes is None else {"axes": axes}
    agree(model(node("MeanVarianceNormalization", "x", **attributes), x=(1, 3, 4, 5)))


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_lp_normalization(axis):
    agree(model(node("LpNormalization", "x", axis=axis, p=2), x=(1, 3, 5)))


@pytest.mark.parametrize("axis", [-1, 1])
def test_rms_normalization(axis):
    shape = (1, 3, 5)
    proto = node("RMSNormalization", "x s", axis=axis)
    agree(model(proto, x=shape, opset=23, s=normal(*shape[axis:])))


def test_exported_group_norm_is_one_operator():
    nodes = [
        node("Conv", "x w", "c"),
        node("Reshape", "c groups", "r"),
        node("InstanceNormalization", "r one zero", "n"),
        node("Reshape", "n back", "m"),
        node("Mul", "m gain", "g"),
        node("Add", "g bias", "a"),
        node("Relu", "a"),
    ]
    graph = agree(
        model(
            *nodes, x=(1, 3, 6, 5), w=normal(4, 3, 3, 3), groups=np.array([0, 2, -1]),
            back=np.array([1, 4, 4, 3]), one=np.ones(2), zero=np.zeros(2),
            gain=normal(4, 1, 1), bias=normal(4, 1, 1, seed=1),
        )
    )  # fmt: skip
    assert [k for k in kinds(graph) if k not in ("Transpose", "Reshape")] == ["Conv2D", "Normalize"]
    assert kinds(graph).count("Transpose") == 2  # of the input and the output


def written_out(axes, opset, square, divide, *, twice=False, mean=True):
    """Nodes and constants of (x - mean) / sqrt(variance + epsilon), result "n"."""
    by_input = opset >= 18
    reduce = {} if by_input else {"axes": axes}
    names = " axes" if by_input else ""
    constants = {"two": 2.0, "eps": 1e-3} | ({"axes": np.array(axes)} if by_input else {})
    nodes, centre = [], "x"
    if mean:
        nodes += [node("ReduceMean", f"x{names}", "m", **reduce), node("Sub", "x m", "d")]
        centre = "d"
        if twice:
            nodes.append(node("Sub", "x m", "e"))
    other = "e" if twice else centre
    nodes += [
        node("Pow", f"{other} two", "q") if square == "Pow" else node("Mul", [other] * 2, "q"),
        node("ReduceMean", f"q{names}", "v", **reduce),
        node("Add", "v eps", "w"),
        node("Sqrt", "w", "s"),
    ]
    if divide == "Div":
        nodes.append(node("Div", f"{centre} s", "n"))
    else:
        nodes += [node("Reciprocal", "s", "r"), node("Mul", f"{centre} r", "n")]
    return nodes, constants


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("square", ["Pow", "Mul"])
@pytest.mark.parametrize("divide", ["Div", "Reciprocal"])
@pytest.mark.parametrize(("twice", "mean"), [(False, True), (True, True), (False, False)])
def test_layer_norm_written_out_is_one_operator(opset, square, divide, twice, mean):
    nodes, constants = written_out([-1], opset, square, divide, twice=twice, mean=mean)
    nodes += [node("Mul", "n gain", "g"), node("Add", "g bias")]
    constants |= {"gain": normal(7), "bias": normal(7, seed=1)}
    graph = agree(model(*nodes, x=(1, 5, 7), opset=opset, **constants))
    assert kinds(graph) == ["Normalize"]


def test_instance_norm_written_out_is_one_operator():
    nodes, constants = written_out([2, 3], 13, "Mul", "Div")
    nodes += [node("Mul", "n gain", "g"), node("Add", "g bias")]
    constants |= {"gain": normal(3, 1, 1), "bias": normal(3, 1, 1, seed=1)}
    graph = agree(model(*nodes, x=(1, 3, 5, 7), **constants))
    assert [k for k in kinds(graph) if k not in ("Transpose", "Reshape")] == ["Normalize"]


def test_unit_length_written_out_is_one_operator():
    nodes = [
        node("ReduceL2", "x", "l", axes=[1], keepdims=1),
        node("Clip", ["l", "tiny"], "c"),
        node("Expand", "c shape", "e"),
        node("Div", "x e"),
    ]
    proto = model(*nodes, x=(1, 7), tiny=1e-12, shape=np.array([1, 7]))
    assert kinds(agree(proto)) == ["Normalize"]


@pytest.mark.parametrize("change", ["axes", "epsilon twice", "other"])
def test_what_only_looks_like_a_layer_norm_is_not_taken_for_one(change):
    nodes, constants = written_out([-1], 13, "Mul", "Div")
    if change == "axes":
        nodes[3] = node("ReduceMean", "q", "v", axes=[1])
    elif change == "epsilon twice":
        constants["eps"] = np.array([1e-3, 1e-2])
    else:
        nodes[1] = node("Sub", "z m", "d")
    found = recognise_norms(
        model(*nodes, inputs={"x": (1, 2, 2), "z": (1, 2, 2)}, outputs="n", **constants)
    )
    if change == "epsilon twice":
        assert [n.op_type for n in found] == [n.op_type for n in nodes]
    else:  # the differences are divided by their own root mean square
        attributes = {a.name: a for a in found[-1].attribute}
        assert list(found[-1].input) == ["d"]
        assert attributes["subtract_mean"].i == 0


def test_factors_before_a_product_join_it_through_views():
    nodes = [
        node("Mul", "q root", "qs"),
        node("Reshape", "qs heads", "qr"),
        node("Transpose", "qr", "qt", perm=[0, 2, 1, 3]),
        node("MatMul", "qt k"),
    ]
    graph = agree(
        model(
            *nodes,
            inputs={"q": (1, 5, 8), "k": (1, 2, 4, 6)},
            heads=np.array([1, 5, 2, 4]),
            root=0.5,
        )
    )
    assert kinds(graph) == ["Reshape", "MatMul"]


@pytest.mark.parametrize("factor", [-0.5, 0.0])
def test_factors_that_are_not_positive_stay_outside(factor):
    proto = model(
        node("Mul", "a c", "s"),
        node("MatMul", "s b"),
        inputs={"a": (1, 3, 4), "b": (1, 4, 2)},
        c=factor,
    )
    assert kinds(agree(proto)) == ["Unary", "MatMul"]


def test_a_pad_joins_a_grouped_convolution():
    proto = model(
        node("Pad", ["x", "pads"], "p"),
        node("Conv", "p w", group=2),
        x=(1, 4, 5, 5),
        w=normal(6, 2, 3, 3),
        pads=np.array([0, 0, 1, 2, 0, 0, 1, 0]),
    )
    assert "Pad" not in kinds(agree(proto))
