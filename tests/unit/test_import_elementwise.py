"""Activations and arithmetic against ONNX Runtime (R4, R6, R8, R16, R19)."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.import_oracle import agree, kinds, model, node, normal
from toolchain.errors import InputRefused

BINARY = ("Add", "Sub", "Mul", "Div")
SHAPE = (1, 3, 4, 5)
CONSTANT_SHAPES = [
    (), (1,), (1, 1, 1, 1), (5,), (4, 1), (3, 1, 1), (1, 3, 1, 1), (1, 4, 1), (4, 5), (3, 1, 5),
    (1, 1, 4, 5), SHAPE,
]  # fmt: skip


def away_from_zero(shape, seed=1):
    value = normal(*shape, seed=seed)
    return (np.sign(value) * (np.abs(value) + 0.3)).astype(np.float32)


@pytest.mark.parametrize("op_type", ["Relu", "Sigmoid", "Tanh", "Identity"])
@pytest.mark.parametrize("shape", [(1,), (1, 7), (1, 3, 5), (1, 3, 4, 5), (1, 2, 3, 4, 2)])
@pytest.mark.parametrize("opset", [7, 13, 23])
def test_activations_of_any_rank(op_type, shape, opset):
    agree(model(node(op_type, "x"), x=shape, opset=opset))


@pytest.mark.parametrize("opset", [7, 9, 10])
@pytest.mark.parametrize("bounds", [{}, {"min": 0.0}, {"max": 1.5}, {"min": -1.0, "max": 6.0}])
def test_r16_clip_with_attributes_until_opset_10(opset, bounds):
    agree(model(node("Clip", "x", **bounds), opset=opset))


@pytest.mark.parametrize("opset", [11, 12, 13, 23])
@pytest.mark.parametrize(
    "inputs", [["x"], ["x", "a"], ["x", "", "b"], ["x", "a", "b"], ["x", "a", ""], ["x", "", ""]]
)
def test_r14_clip_with_inputs_since_opset_11(opset, inputs):
    constants = {n: np.float32({"a": -1.0, "b": 2.0}[n]) for n in inputs if n in ("a", "b")}
    agree(model(node("Clip", inputs), opset=opset, **constants))


def test_clip_whose_lower_bound_is_above_the_upper_gives_the_upper():
    graph = agree(model(node("Clip", "x a b"), a=np.float32(2), b=np.float32(-1)))
    (clip,) = graph.ops
    assert clip.expression == ("min", ("max", ("x",), ("const", -1.0)), ("const", -1.0))


@pytest.mark.parametrize("op_type", BINARY)
@pytest.mark.parametrize("shape", CONSTANT_SHAPES)
def test_r8_constant_on_the_right_of_any_shape(op_type, shape):
    agree(model(node(op_type, "x c"), x=SHAPE, c=away_from_zero(shape)))


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul"])
@pytest.mark.parametrize("shape", CONSTANT_SHAPES)
def test_r8_constant_on_the_left_of_any_shape(op_type, shape):
    agree(model(node(op_type, "c x"), x=SHAPE, c=away_from_zero(shape)))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1, 1)])
def test_scalar_divided_by_a_tensor(shape):
    sample = {"x": away_from_zero(SHAPE, 7)}
    agree(model(node("Div", "c x"), x=SHAPE, c=away_from_zero(shape)), sample=sample)


@pytest.mark.parametrize("op_type", BINARY)
@pytest.mark.parametrize("shape", [(1, 4), (1, 3, 4)])
def test_constant_of_higher_rank_raises_the_rank(op_type, shape):
    for constant in ((1, 1, 1, 1), (1, 1, 1, 4)):
        agree(model(node(op_type, "x c"), x=shape, c=away_from_zero(constant)))


@pytest.mark.parametrize("op_type", BINARY)
@pytest.mark.parametrize("opset", [7, 13, 14, 23])
def test_scalar_arithmetic_at_every_opset(op_type, opset):
    agree(model(node(op_type, "x c"), opset=opset, c=np.float32(2.5)))


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul"])
def test_r8_two_tensors_and_the_same_tensor_twice(op_type):
    inputs = {"a": SHAPE, "b": SHAPE}
    agree(model(node(op_type, "a b"), inputs=inputs))
    assert kinds(agree(model(node(op_type, "x x"), x=SHAPE))) == ["Unary"]


@pytest.mark.parametrize("op_type", BINARY)
@pytest.mark.parametrize("shape", [(6,), (1, 4, 1, 1), (4, 1, 1), (), (4, 6, 6), (1, 1, 6, 6)])
def test_constants_after_a_conv_of_every_shape(op_type, shape):
    nodes = [node("Conv", "x w", "k"), node(op_type, "k c", "d"), node("Relu", "d")]
    graph = agree(model(*nodes, w=normal(4, 3, 3, 3), c=away_from_zero(shape)))
    if np.prod(shape) in (1, 4):  # a number, or one per channel
        assert kinds(graph) == ["Transpose", "Conv2D", "Transpose"]
    else:
        assert kinds(graph).count("Transpose") == 2


def hard_swish(x: str, y: str, *, commuted: bool) -> tuple[list, dict]:
    product = [f"{y}c", x] if commuted else [x, f"{y}c"]
    nodes = [
        node("Add", [x, f"{y}3"], f"{y}a"),
        node("Clip", [f"{y}a", f"{y}0", f"{y}6"], f"{y}c"),
        node("Mul", product, f"{y}m"),
        node("Div", [f"{y}m", f"{y}6"], y),
    ]
    return nodes, {f"{y}0": np.float32(0), f"{y}3": np.float32(3), f"{y}6": np.float32(6)}


@pytest.mark.parametrize("commuted", [False, True])
def test_r6_hard_swish_spelled_out_is_one_table(commuted):
    nodes, constants = hard_swish("x", "y", commuted=commuted)
    assert kinds(agree(model(*nodes, **constants))) == ["Unary"]


@pytest.mark.parametrize("commuted", [False, True])
def test_r6_hard_swish_after_a_conv_is_one_table_and_keeps_the_conv_open(commuted):
    nodes, constants = hard_swish("c", "y", commuted=commuted)
    graph = agree(model(node("Conv", "x w", "c"), *nodes, w=normal(4, 3, 3, 3), **constants))
    assert kinds(graph) == ["Transpose", "Conv2D", "Unary", "Transpose"]


@pytest.mark.parametrize("order", ["x s", "s x"])
def test_r6_silu_is_one_table(order):
    assert kinds(agree(model(node("Sigmoid", "x", "s"), node("Mul", order)))) == ["Unary"]


def test_r6_silu_after_batch_norm_between_convs():
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("BatchNormalization", "c s o m v", "n"),
        node("Sigmoid", "n", "g"), node("Mul", "n g", "h"), node("Conv", "h u"),
    ]  # fmt: skip
    constants = {n: np.abs(normal(4, seed=i)) + 0.1 for i, n in enumerate("somv")}
    graph = agree(model(*nodes, w=normal(4, 3, 3, 3), u=normal(2, 4, 3, 3), **constants))
    assert kinds(graph) == ["Transpose", "Conv2D", "Unary", "Conv2D", "Transpose"]


def test_r4_two_activations_of_one_conv_keep_it_open():
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "y"), node("Tanh", "c", "z")]
    graph = agree(model(*nodes, outputs="y z", w=normal(4, 3, 3, 3)))
    conv = next(op for op in graph.ops if type(op).__name__ == "Conv2D")
    assert (conv.low, conv.high) == (None, None)


def test_r4_relu_of_a_conv_that_is_an_output_keeps_the_output_open():
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "y")]
    agree(model(*nodes, outputs="c y", w=normal(4, 3, 3, 3)))


def test_relu_of_a_relu_of_a_clip_is_one_bound():
    nodes = [
        node("Conv", "x w", "c"), node("Relu", "c", "r"), node("Clip", "r a b", "k"),
        node("Relu", "k"),
    ]  # fmt: skip
    graph = agree(model(*nodes, w=normal(4, 3, 3, 3), a=np.float32(-1), b=np.float32(2)))
    conv = next(op for op in graph.ops if type(op).__name__ == "Conv2D")
    assert (conv.low, conv.high) == (0.0, 2.0)


@settings(max_examples=60, deadline=None)
@given(bounds=st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=3))
def test_any_chain_of_clips_after_a_layer_is_one_clip(bounds):
    nodes, constants, last = [node("MatMul", "x w", "c")], {"w": normal(6, 6)}, "c"
    for i, (low, high) in enumerate(bounds):
        out = "y" if i == len(bounds) - 1 else f"k{i}"
        constants |= {f"l{i}": np.float32(low), f"h{i}": np.float32(high)}
        nodes.append(node("Clip", [last, f"l{i}", f"h{i}"], out))
        last = out
    graph = agree(model(*nodes, x=(1, 6), **constants))
    assert kinds(graph) == ["FullyConnected"]


def test_division_by_a_constant_with_a_zero_is_refused():
    for constant in (np.array([1, 0, 2], np.float32).reshape(3, 1, 1), np.zeros((3, 4, 5))):
        with pytest.raises(InputRefused, match="zeros"):
            agree(model(node("Div", "x c"), x=SHAPE, c=constant))


def test_division_of_a_tensor_of_constants_is_never_taken_for_a_product():
    for constant in ((3, 1, 1), SHAPE):
        proto = model(node("Div", "c x"), x=SHAPE, c=normal(*constant))
        with suppress(InputRefused):
            agree(proto, sample={"x": away_from_zero(SHAPE, 7)})
