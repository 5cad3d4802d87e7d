"""Channels that are zero, constant, tiny or dominated by their bias (R1, R2, R3, R7, R9)."""

import numpy as np
import pytest

from tests.unit.import_oracle import model, node, normal, sample_of
from tests.unit.quantize_oracle import (
    codes_of,
    errors,
    float_graph,
    integer,
    simulate,
    watched_arithmetic,
)
from toolchain.ir.fixedpoint import dequantize

KINDS = ("conv", "depthwise", "gemm")


def layer(kind: str, w, b):
    """A model with one layer of three output channels; w has three filters."""
    if kind == "gemm":
        return model(node("Gemm", "x w b", transB=1), x=(1, 12), w=w.reshape(3, 12), b=b)
    if kind == "depthwise":
        conv = node("Conv", "x w b", group=3)
        return model(conv, x=(1, 3, 6, 6), w=w.reshape(3, 1, 3, 4), b=b)
    return model(node("Conv", "x w b"), x=(1, 3, 4, 4), w=w.reshape(3, 3, 2, 2), b=b)


def channel(array, index):
    """One channel of an ONNX or a channels-last output."""
    return array[..., index]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bias", [0.0, 0.75, -2.0])
def test_r3_a_channel_of_zeros_gives_its_bias_exactly(kind, bias):
    w = normal(3, 12)
    w[1] = 0
    proto = layer(kind, w, np.array([0.1, bias, -0.3]))
    done = integer(proto).graph
    values = simulate(done, codes_of(done, sample_of(float_graph(proto))))
    op = next(o for o in done.ops if o.has_activation)
    quant = done.types[op.y].q
    dead = dequantize(channel(values[op.y], 1), quant)
    assert np.abs(dead - bias).max() <= quant.scale / 2 * 1.001
    assert max(errors(proto, done).values()) < 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e-42, 1e-30, 1e-12])
def test_r3_a_channel_of_tiny_weights_has_a_valid_scale_and_an_exact_bias(kind, size):
    w = normal(3, 12)
    w[1] *= size
    proto = layer(kind, w, np.array([0.1, 0.5, -0.3]))
    done = integer(proto).graph
    for kind_of in done.types.values():
        if kind_of.quant is not None:
            assert all(np.isfinite(s) and s > 0 for s in kind_of.quant.scales)
    assert max(errors(proto, done).values()) < 2


@pytest.mark.parametrize("kind", KINDS)
def test_r2_a_bias_that_leaves_int32_raises_the_scale_of_its_channel_and_warns(kind):
    w = normal(3, 12)
    w[2] *= 1e-5
    proto = layer(kind, w, np.array([0.1, 50.0, 900.0]))
    quantized = integer(proto)
    assert any("channel 2" in w and "n_y" in w for w in quantized.warnings)
    assert not any("channel 0" in w for w in quantized.warnings)
    with watched_arithmetic():
        worst = errors(proto, quantized.graph)
    assert max(worst.values()) < 2


@pytest.mark.parametrize("kind", KINDS)
def test_r1_channels_of_unequal_size_have_scales_of_their_own(kind):
    w = normal(3, 12) * np.array([[1.0], [1e-3], [1e3]], np.float32)
    done = integer(layer(kind, w, np.zeros(3))).graph
    op = next(o for o in done.ops if o.has_activation)
    scales = done.types[op.inputs[1]].q.scales
    np.testing.assert_allclose(scales, np.abs(w).max(axis=1) / 127, rtol=1e-6)


def test_r3_a_tensor_that_is_always_zero_has_a_valid_scale():
    proto = model(node("MatMul", "x w", "m"), node("Relu", "m", "r"), node("MatMul", "r v"),
                  x=(1, 4), w=-np.ones((4, 3)), v=normal(3, 2))  # fmt: skip
    samples = [{"x": np.full((1, 4), v, np.float32)} for v in (0.5, 1.0)]
    done = integer(proto, samples).graph
    codes = simulate(done, codes_of(done, samples[0]))
    np.testing.assert_array_equal(dequantize(codes["y"], done.types["y"].q), 0)


@pytest.mark.parametrize("value", [0.0, 3.0, -1e-3, 1e-20])
def test_r3_a_constant_input_has_a_valid_scale(value):
    proto = model(node("MatMul", "x w"), x=(1, 4), w=normal(4, 3))
    done = integer(proto, [{"x": np.full((1, 4), value, np.float32)}]).graph
    assert all(np.isfinite(t.q.scale) for t in (done.types["x"], done.types["y"]))


@pytest.mark.parametrize("op_type", ["Softmax", "Sigmoid"])
def test_r7_probabilities_have_scale_1_256_and_never_wrap(op_type):
    proto = model(node("Mul", "x c", "m"), node(op_type, "m"), x=(1, 10), c=np.float32(20))
    done = integer(proto).graph
    quant = done.types["y"].q
    assert (quant.scale, quant.zero_point) == (1 / 256, -128)
    for codes in (np.full((1, 10), -128), np.full((1, 10), 127), np.eye(1, 10) * 255 - 128):
        result = dequantize(simulate(done, {"x": codes.astype(np.int8)})["y"], quant)
        assert result.min() >= 0
        if op_type == "Softmax":
            assert abs(result.sum() - 1) <= 4 / 256
        else:
            np.testing.assert_allclose(result, codes >= 0, atol=1 / 256)


@pytest.mark.parametrize("reduced", [["GlobalAveragePool", {}], ["ReduceMean", {"axes": [2, 3]}]])
def test_r9_a_small_mean_of_large_values_does_not_vanish(reduced):
    op_type, attributes = reduced
    proto = model(node(op_type, "x", **attributes), x=(1, 2, 8, 8))
    rng = np.random.default_rng(0)
    samples = []
    for _ in range(8):
        x = 100 * rng.standard_normal((1, 2, 8, 8))
        x += -x.mean(axis=(2, 3), keepdims=True) + rng.uniform(-0.5, 0.5, (1, 2, 1, 1))
        samples.append({"x": x.astype(np.float32)})
    done = integer(proto, samples).graph
    assert done.types["y"].q.scale < 0.01
    assert done.types["x"].q.scale > 1


def test_r4_relu_clamps_at_the_zero_point():
    proto = model(node("Conv", "x w", "c"), node("Relu", "c"), w=normal(4, 3, 3, 3))
    done = integer(proto).graph
    (conv,) = [o for o in done.ops if o.has_activation]
    quant = done.types[conv.y].q
    assert quant.zero_point == -128
    assert conv.arguments(done.types)["clamp"] == (-128, 127)


def test_r4_relu6_of_a_range_that_never_reaches_6_is_kept():
    nodes = [node("MatMul", "x w", "m"), node("Clip", "m lo hi")]
    proto = model(*nodes, x=(1, 4), w=normal(4, 3), lo=np.float32(0), hi=np.float32(6))
    samples = [{"x": np.full((1, 4), 0.1, np.float32)}, {"x": np.full((1, 4), -0.1, np.float32)}]
    done = integer(proto, samples).graph
    (op,) = done.ops
    assert (op.low, op.high) == (0.0, 6.0)


def test_the_same_graph_gives_the_same_integers_twice():
    nodes = [
        node("Conv", "x w b", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "r"),
        node("Concat", "r x", "k", axis=1), node("GlobalAveragePool", "k"),
    ]  # fmt: skip
    proto = model(*nodes, w=normal(4, 3, 3, 3), b=normal(4))
    one, two = integer(proto), integer(proto)
    assert (one.graph.ops, one.graph.types) == (two.graph.ops, two.graph.types)
    assert one.warnings == two.warnings
    assert list(one.graph.constants) == list(two.graph.constants)
    for name, value in one.graph.constants.items():
        np.testing.assert_array_equal(value, two.graph.constants[name])
