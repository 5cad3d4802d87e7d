"""Conv, Pad before it and BatchNormalization around it, against ONNX Runtime (R12, R17, R19)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.import_oracle import agree, kinds, model, node, normal

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


@st.composite
def convolutions(draw, rank: int):
    """A model with one Conv of random geometry over `rank` spatial dimensions."""
    size = [draw(st.integers(5, 9)) for _ in range(rank)]
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    dilation = [draw(st.integers(1, 2)) for _ in range(rank)]
    dilation = [d if d * (k - 1) < 5 else 1 for d, k in zip(dilation, kernel, strict=True)]
    attributes = {
        "strides": [draw(st.integers(1, 3)) for _ in range(rank)],
        "dilations": dilation,
        "kernel_shape": kernel,
    }
    mode = draw(st.sampled_from(AUTO_PADS))
    if mode == "NOTSET":
        attributes["pads"] = [draw(st.integers(0, 3)) for _ in range(2 * rank)]
    else:
        attributes["auto_pad"] = mode
    if mode.startswith("SAME"):
        attributes["dilations"] = [1] * rank  # ONNX Runtime has no dilation with these modes
    channels = draw(st.integers(1, 4))
    group = channels if draw(st.booleans()) else 1
    out = channels * draw(st.integers(1, 3)) if group > 1 else draw(st.integers(1, 5))
    constants = {"w": normal(out, channels // group, *kernel, seed=draw(st.integers(0, 99)))}
    inputs = "x w"
    if draw(st.booleans()):
        inputs, constants["b"] = "x w b", normal(out, seed=5)
    conv = node("Conv", inputs, group=group, **attributes)
    opset = draw(st.sampled_from([7, 10, 11, 13, 17, 22, 23]))
    return model(conv, x=(1, channels, *size), opset=opset, **constants)


@settings(max_examples=80, deadline=None)
@given(convolutions(2))
def test_conv_2d_of_any_geometry(proto):
    agree(proto)


@settings(max_examples=50, deadline=None)
@given(convolutions(1))
def test_conv_1d_of_any_geometry(proto):
    agree(proto)


@pytest.mark.parametrize("mode", AUTO_PADS[1:])
@pytest.mark.parametrize("kernel", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("size", [7, 8])
def test_r17_auto_pad_with_even_and_odd_kernels(mode, kernel, stride, size):
    w = normal(2, 3, kernel, kernel)
    conv = node("Conv", "x w", auto_pad=mode, strides=[stride, stride])
    agree(model(conv, x=(1, 3, size, size), w=w))


def test_r17_valid_auto_pad_with_dilation():
    conv = node("Conv", "x w", auto_pad="VALID", dilations=[2, 2])
    agree(model(conv, w=normal(2, 3, 2, 3)))


def test_r17_depthwise_with_channel_multiplier_keeps_the_channel_order():
    graph = agree(model(node("Conv", "x w b", group=3), w=normal(6, 1, 3, 3), b=normal(6)))
    assert "DepthwiseConv2D" in kinds(graph)


def test_r14_conv_with_an_empty_bias_name_has_no_bias():
    agree(model(node("Conv", ["x", "w", ""]), w=normal(2, 3, 3, 3)))


def test_conv_without_kernel_shape_takes_it_from_the_filter():
    agree(model(node("Conv", "x w", pads=[1, 0, 0, 1]), w=normal(4, 3, 2, 3)))


def batch_norm(x: str, y: str = "y", channels: int = 4, **attributes):
    """A BatchNormalization node and its constants."""
    constants = {
        f"{y}s": normal(channels, seed=1), f"{y}o": normal(channels, seed=2),
        f"{y}m": normal(channels, seed=3), f"{y}v": np.abs(normal(channels, seed=4)) + 0.1,
    }  # fmt: skip
    return node("BatchNormalization", [x, *constants], y, **attributes), constants


def test_r12_batch_norm_after_conv_with_padding_folds_away():
    norm, constants = batch_norm("c", epsilon=1e-2)
    conv = node("Conv", "x w b", "c", pads=[1, 1, 1, 1])
    graph = agree(model(conv, norm, w=normal(4, 3, 3, 3), b=normal(4), **constants))
    assert kinds(graph) == ["Transpose", "Conv2D", "Transpose"]


@pytest.mark.parametrize("channels", [3, 6])
def test_r12_batch_norm_after_depthwise_folds_away(channels):
    norm, constants = batch_norm("c", channels=channels)
    conv = node("Conv", "x w", "c", pads=[1, 1, 0, 0], group=3)
    graph = agree(model(conv, norm, w=normal(channels, 1, 3, 3), **constants))
    assert kinds(graph).count("DepthwiseConv2D") == 1


def test_r12_batch_norm_before_conv_with_zero_padding_is_not_folded_forward():
    norm, constants = batch_norm("x", "n", 3)
    conv = node("Conv", "n w", pads=[1, 1, 1, 1])
    graph = agree(model(norm, conv, w=normal(4, 3, 3, 3), **constants))
    assert kinds(graph).count("DepthwiseConv2D") == 1


def test_r12_batch_norm_before_conv_without_padding_folds_away():
    norm, constants = batch_norm("x", "n", 3)
    graph = agree(model(norm, node("Conv", "n w"), w=normal(4, 3, 3, 3), **constants))
    assert "DepthwiseConv2D" not in kinds(graph)


@pytest.mark.parametrize("activation", ["Relu", "Sigmoid", "Tanh"])
def test_r12_batch_norm_after_an_activation_does_not_fold_backwards(activation):
    norm, constants = batch_norm("a")
    nodes = [node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node(activation, "c", "a"), norm]
    graph = agree(model(*nodes, w=normal(4, 3, 3, 3), **constants))
    assert "DepthwiseConv2D" in kinds(graph)


def test_r12_batch_norm_between_an_activation_and_gemm_folds_forward():
    norm, constants = batch_norm("a", "n")
    nodes = [
        node("Gemm", "x u", "g"), node("Relu", "g", "a"), norm, node("Gemm", "n v c"),
    ]  # fmt: skip
    graph = agree(model(*nodes, x=(1, 5), u=normal(5, 4), v=normal(4, 2), c=normal(2), **constants))
    assert kinds(graph) == ["FullyConnected", "FullyConnected"]


def test_r12_batch_norm_through_flatten_into_gemm():
    norm, constants = batch_norm("x", "n", 3)
    nodes = [norm, node("Flatten", "n", "f"), node("Gemm", "f u")]
    graph = agree(model(*nodes, x=(1, 3, 4, 5), u=normal(60, 4), **constants))
    assert "DepthwiseConv2D" not in kinds(graph)


@pytest.mark.parametrize("shape", [(1, 4), (1, 4, 6), (1, 4, 3, 5)])
@pytest.mark.parametrize("opset", [7, 9, 14, 15, 23])
def test_r12_batch_norm_alone_on_any_rank(shape, opset):
    norm, constants = batch_norm("x")
    agree(model(norm, x=shape, opset=opset, **constants))


def test_r12_batch_norm_then_relu_after_conv_is_one_layer():
    norm, constants = batch_norm("c", "n")
    conv = node("Conv", "x w", "c", pads=[1, 1, 1, 1])
    nodes = [conv, norm, node("Relu", "n")]
    graph = agree(model(*nodes, w=normal(4, 3, 3, 3), **constants))
    assert kinds(graph) == ["Transpose", "Conv2D", "Transpose"]


def test_r12_batch_norm_of_a_branch_leaves_the_other_branch_alone():
    norm, constants = batch_norm("c", "n")
    nodes = [node("Conv", "x w", "c"), norm, node("Add", "n c")]
    agree(model(*nodes, w=normal(4, 3, 3, 3), **constants))


def test_r12_batch_norm_on_both_sides_of_a_conv():
    before, first = batch_norm("x", "n", 3)
    after, second = batch_norm("c")
    nodes = [before, node("Conv", "n w", "c"), after]
    graph = agree(model(*nodes, w=normal(4, 3, 2, 2), **first, **second))
    assert kinds(graph).count("Conv2D") == 1
    assert "DepthwiseConv2D" not in kinds(graph)


PADS = [0, 0, 1, 2, 0, 0, 0, 1]


@pytest.mark.parametrize("opset", [7, 10, 11, 13, 18, 21, 23])
@pytest.mark.parametrize("value", [None, 0.0, 0.5])
def test_r16_pad_with_attributes_and_inputs(opset, value):
    if opset < 11:
        extra = {} if value is None else {"value": value}
        pad, constants = node("Pad", "x", pads=PADS, mode="constant", **extra), {}
    else:
        constants = {"p": np.array(PADS, np.int64)}
        constants |= {} if value is None else {"v": np.float32(value)}
        pad = node("Pad", ["x", *constants])
    agree(model(pad, opset=opset, **constants))


@pytest.mark.parametrize("axes", [[2, 3], [-1, -2], [3]])
def test_r16_pad_with_axes_since_opset_18(axes):
    pads = np.arange(2 * len(axes))
    pad = node("Pad", ["x", "p", "", "a"])
    agree(model(pad, opset=18, p=pads, a=np.array(axes, np.int64)))


def test_pad_before_conv_becomes_its_padding():
    nodes = [node("Pad", "x p", "q"), node("Conv", "q w", pads=[1, 1, 1, 1])]
    graph = agree(model(*nodes, p=np.array(PADS), w=normal(4, 3, 3, 3)))
    assert "Pad" not in kinds(graph)


@pytest.mark.parametrize(
    ("pads", "value"),
    [(PADS, 1.0), ([0, 1, 0, 0, 0, 0, 0, 0], 0.0), ([0, 0, 0, 0, 0, 1, 0, 0], 0.0)],
)
def test_pad_with_a_value_or_over_channels_stays(pads, value):
    nodes = [node("Pad", "x p v", "q"), node("Conv", "q w")]
    channels = 3 + pads[1] + pads[5]
    w = normal(2, channels, 3, 3)
    graph = agree(model(*nodes, p=np.array(pads), v=np.float32(value), w=w))
    assert "Pad" in kinds(graph)


def test_pad_that_is_also_read_elsewhere_stays():
    nodes = [node("Pad", "x p", "q"), node("Conv", "q w"), node("Relu", "q", "z")]
    graph = agree(model(*nodes, outputs="y z", p=np.array(PADS), w=normal(4, 3, 3, 3)))
    assert "Pad" in kinds(graph)


def test_pad_before_batch_norm_pads_with_zeros_first():
    norm, constants = batch_norm("q", channels=3)
    agree(model(node("Pad", "x p", "q"), norm, p=np.array(PADS), **constants))


def test_pad_before_conv_1d():
    nodes = [node("Pad", "x p", "q"), node("Conv", "q w")]
    p = np.array([0, 0, 2, 0, 0, 1])
    graph = agree(model(*nodes, x=(1, 3, 9), p=p, w=normal(4, 3, 3)))
    assert "Pad" not in kinds(graph)


def test_conv_flatten_gemm_permutes_the_weights_instead_of_the_activation():
    nodes = [
        node("Conv", "x w", "c"), node("Relu", "c", "a"), node("Flatten", "a", "f"),
        node("Gemm", "f u"),
    ]  # fmt: skip
    graph = agree(model(*nodes, w=normal(4, 3, 3, 3), u=normal(144, 5)))
    assert kinds(graph) == ["Transpose", "Conv2D", "Reshape", "FullyConnected"]


def residual(x: str, y: str) -> list:
    return [
        node("Conv", [x, "w", "b"], f"{y}1", pads=[1, 1, 1, 1]),
        node("Relu", f"{y}1", f"{y}2"),
        node("Conv", [f"{y}2", "w", "b"], f"{y}3", pads=[1, 1, 1, 1]),
        node("Add", [f"{y}3", x], f"{y}4"),
        node("Relu", f"{y}4", y),
    ]


def test_residual_net_has_transposes_only_at_its_ends():
    nodes = [*residual("x", "h"), *residual("h", "y")]
    graph = agree(model(*nodes, w=normal(3, 3, 3, 3), b=normal(3)))
    assert kinds(graph).count("Transpose") <= 3
    assert kinds(graph).count("Unary") == 0


def test_r4_a_branch_keeps_the_negative_half_that_relu_drops_in_the_other():
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "r"), node("Add", "r c")]
    graph = agree(model(*nodes, w=normal(3, 3, 3, 3)))
    conv = next(op for op in graph.ops if type(op).__name__ == "Conv2D")
    assert conv.low is None


def test_r19_channels_last_model_between_transposes_needs_none():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 3, 1, 2]),
        node("Conv", "t w", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("MaxPool", "r", "m", kernel_shape=[2, 2], strides=[2, 2]),
        node("Transpose", "m", perm=[0, 2, 3, 1]),
    ]
    graph = agree(model(*nodes, x=(1, 8, 8, 3), w=normal(4, 3, 3, 3)))
    assert "Transpose" not in kinds(graph)


def test_r19_add_of_a_channels_last_constant_between_transposes():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 3, 1, 2]),
        node("Conv", "t w", "c", pads=[1, 1, 1, 1]),
        node("Transpose", "c", "l", perm=[0, 2, 3, 1]),
        node("Add", "l k", "a"),
        node("Relu", "a"),
    ]
    k = normal(1, 8, 8, 4)
    graph = agree(model(*nodes, x=(1, 8, 8, 3), w=normal(4, 3, 3, 3), k=k))
    assert "Transpose" not in kinds(graph)
