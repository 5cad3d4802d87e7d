"""QDQ patterns as the exporters write them: the stated numbers are kept, the rest is refused."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.quantized.small import (
    FLOAT,
    INT8,
    UINT8,
    converted,
    largest_error,
    model,
    node,
    quantized,
)
from toolchain import pipeline
from toolchain.errors import InputRefused
from toolchain.frontend.read import read
from toolchain.ir import DType, Family, Quant
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.unary import Unary
from toolchain.options import ConvertOptions

LSB = 1.01
RNG = np.random.default_rng(7)
W = RNG.integers(-100, 101, (4, 3, 3, 3)).astype(np.int8)
SCALES = RNG.uniform(0.001, 0.01, 4)
BIAS = RNG.integers(-900, 900, 4).astype(np.int32)
SIGNED = {"x_s": 0.05, "x_z": np.int8(-7), "y_s": 0.06, "y_z": np.int8(11)}
UNSIGNED = {"x_s": 0.05, "x_z": np.uint8(121), "y_s": 0.06, "y_z": np.uint8(139)}


def _conv(activations=SIGNED, weights=None, bias=None, relu=None, **attributes):
    """x -> QDQ -> Conv -> (relu) -> QDQ -> y, and its constants."""
    weights = weights or {"w": W, "w_s": SCALES, "w_z": np.zeros(4, np.int8)}
    axis = {} if np.ndim(weights["w_s"]) == 0 or np.size(weights["w_s"]) == 1 else {"axis": 0}
    zero = " w_z" if "w_z" in weights else ""
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        node("DequantizeLinear", f"w w_s{zero}", "wq", **axis),
    ]
    constants = {**activations, **weights}
    inputs = "xq wq"
    if bias is not None:
        constants["b"] = bias
        inputs += " bq" if bias.dtype == np.int32 else " b"
        if bias.dtype == np.int32:
            constants["b_s"] = np.float32(0.05) * np.asarray(weights["w_s"], np.float32)
            constants["b_z"] = np.zeros(np.shape(constants["b_s"]), np.int32)
            nodes.append(node("DequantizeLinear", "b b_s b_z", "bq", **axis))
    nodes.append(node("Conv", inputs, "c", pads=[1, 1, 1, 1], **attributes))
    if relu:
        nodes.append(node(relu, "c" + (" low high" if relu == "Clip" else ""), "r"))
        constants |= {"low": 0.0, "high": 6.0} if relu == "Clip" else {}
    nodes += quantized("r" if relu else "c", "y", "y_s", "y_z")
    return model(nodes, constants)


def _layer(made, kind):
    return next(op for op in made.graph.ops if isinstance(op, kind))


@pytest.mark.parametrize("activations", [SIGNED, UNSIGNED], ids=["int8", "uint8"])
@pytest.mark.parametrize("relu", [None, "Relu", "Clip"])
@pytest.mark.parametrize(
    "bias", [None, BIAS, BIAS * np.float32(3e-4)], ids=["none", "int", "float"]
)
def test_convolution(activations, relu, bias):
    proto = _conv(activations, bias=bias, relu=relu)
    assert largest_error(proto) <= LSB
    made = converted(proto)
    op = _layer(made, Conv2D)
    shift = 128 if activations is UNSIGNED else 0
    for name, key in ((op.x, "x"), (op.y, "y")):
        scale, zero = float(np.float32(activations[f"{key}_s"])), int(activations[f"{key}_z"])
        assert made.graph.types[name].q == Quant((scale,), zero - shift)
    kinds = {type(op).__name__ for op in made.graph.ops}
    assert kinds == {"Transpose", "Conv2D"}, "the activation is part of the convolution"
    np.testing.assert_array_equal(made.graph.constants[op.inputs[1]], W.transpose(0, 2, 3, 1))
    wanted = tuple(float(np.float32(s)) for s in SCALES)
    assert made.graph.types[op.inputs[1]].q.scales == wanted
    if bias is BIAS:
        np.testing.assert_array_equal(made.graph.constants[op.inputs[2]], BIAS)


@pytest.mark.parametrize(
    "scale", [np.float32(0.004), np.array([0.004]), SCALES], ids=["scalar", "one", "channels"]
)
@pytest.mark.parametrize(
    "zero", [None, np.int8(0), np.uint8(128), np.uint8(117)], ids=["none", "s8", "u128", "u117"]
)
def test_weight_scales_and_zero_points(scale, zero):
    codes = W
    if zero is not None and zero.dtype == np.uint8:
        codes = (W.astype(np.int16) + 128).astype(np.uint8)
    weights = {"w": codes, "w_s": scale}
    if zero is not None:
        weights["w_z"] = np.full(np.shape(scale), zero)
    proto = _conv(weights=weights)
    kept = zero is None or int(zero) in (0, 128)
    assert largest_error(proto) <= (LSB if kept else 2.01), "weights rounded twice may cost a step"
    made = converted(proto)
    op = _layer(made, Conv2D)
    own, quant = made.graph.constants[op.inputs[1]], made.graph.types[op.inputs[1]].q
    assert len(quant.scales) == len(own), "a table in C has one entry per channel"
    if kept:
        np.testing.assert_array_equal(own, W.transpose(0, 2, 3, 1))
    else:
        real = (W.astype(int) + 128 - int(zero)) * np.reshape(scale, (-1, 1, 1, 1))
        error = own.transpose(0, 3, 1, 2) * np.reshape(quant.scales, (-1, 1, 1, 1)) - real
        assert np.abs(error).max() <= 0.51 * max(quant.scales)


def test_a_scale_per_input_channel_is_not_taken_for_one_per_output_channel():
    square = W[:3]
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        node("DequantizeLinear", "w w_s w_z", "wq", axis=1),
        node("Conv", "xq wq", "c"),
        *quantized("c", "y", "y_s", "y_z"),
    ]
    scales = {"w": square, "w_s": np.array([0.001, 0.004, 0.01]), "w_z": np.zeros(3, np.int8)}
    assert largest_error(model(nodes, {**SIGNED, **scales})) <= 2.01


@pytest.mark.parametrize("dims", ["tensor", "channel"])
@pytest.mark.parametrize("op_type", ["MatMul", "Gemm"])
def test_dense(op_type, dims):
    codes = RNG.integers(-100, 100, (12, 5)).astype(np.int8)
    one = dims == "tensor"
    scale = np.float32(0.004) if one else RNG.uniform(0.002, 0.01, 5).astype(np.float32)
    bias = RNG.integers(-900, 900, 5).astype(np.int32)
    axis = {} if one else {"axis": 1}
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        node("DequantizeLinear", "w w_s", "wq", **axis),
        node("DequantizeLinear", "b b_s", "bq", **({} if one else {"axis": 0})),
    ]
    if op_type == "Gemm":
        nodes.append(node("Gemm", "xq wq bq", "s"))
    else:
        nodes += [node("MatMul", "xq wq", "m"), node("Add", "m bq", "s")]
    nodes += quantized("s", "y", "y_s", "y_z")
    constants = {**SIGNED, "w": codes, "w_s": scale, "b": bias, "b_s": np.float32(0.05) * scale}
    proto = model(nodes, constants, x=(1, 12))
    assert largest_error(proto) <= LSB
    made = converted(proto)
    op = _layer(made, FullyConnected)
    np.testing.assert_array_equal(made.graph.constants[op.inputs[1]], codes.T)
    np.testing.assert_array_equal(made.graph.constants[op.inputs[2]], bias)
    assert len(made.graph.types[op.inputs[1]].q.scales) == (1 if one else 5)


def test_no_zero_point_means_unsigned_codes():
    nodes = [
        *quantized("x", "xq", "x_s", None),
        node("Relu", "xq", "r"),
        *quantized("r", "y", "x_s", None),
    ]
    proto = model(nodes, {"x_s": 0.05})
    assert converted(proto).graph.types["x"].q == Quant((float(np.float32(0.05)),), -128)
    assert largest_error(proto) <= LSB


def test_one_dequantised_tensor_read_by_several():
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        node("Relu", "xq", "a"),
        *quantized("a", "aq", "x_s", "x_z"),
        node("Add", "xq aq", "s"),
        *quantized("s", "sq", "y_s", "y_z"),
        node("Add", "sq xq", "t"),
        *quantized("t", "y", "y_s", "y_z"),
    ]
    assert largest_error(model(nodes, SIGNED)) <= 2.01


def test_one_tensor_quantised_at_two_scales():
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        *quantized("x", "xr", "y_s", "y_z"),
        node("Add", "xq xr", "s"),
        *quantized("s", "y", "s_s", "y_z"),
    ]
    proto = model(nodes, {**SIGNED, "s_s": 0.13})
    made = converted(proto)
    assert sum(isinstance(op, Unary) for op in made.graph.ops) == 1
    assert largest_error(proto) <= 1.6, "a table rounds a second time"


def test_codes_read_at_another_scale_are_refused():
    nodes = [
        node("QuantizeLinear", "x x_s x_z", "codes"),
        node("DequantizeLinear", "codes y_s y_z", "y"),
    ]
    with pytest.raises(InputRefused, match="another scale"):
        converted(model(nodes, SIGNED))


MOVES = {
    "reshape": ([node("Reshape", "xq shape", "m")], {"shape": np.array([1, -1])}),
    "transpose": ([node("Transpose", "xq", "m", perm=[0, 2, 3, 1])], {}),
    "maxpool": ([node("MaxPool", "xq", "m", kernel_shape=[2, 2], pads=[1, 0, 0, 1])], {}),
    "pad": ([node("Pad", "xq pads", "m")], {"pads": np.array([0, 0, 1, 2, 0, 0, 0, 1])}),
    "relu": ([node("Relu", "xq", "m")], {}),
    "clip": ([node("Clip", "xq low high", "m")], {"low": -1.0, "high": 2.0}),
    "concat": ([node("Concat", "xq xq", "m", axis=1)], {}),
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("same", [True, False], ids=["same scale", "other scale"])
@pytest.mark.parametrize("activations", [SIGNED, UNSIGNED], ids=["int8", "uint8"])
def test_qdq_around_what_moves_codes(name, same, activations):
    nodes, constants = MOVES[name]
    out = "x" if same else "y"
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        *nodes,
        *quantized("m", "y", f"{out}_s", f"{out}_z"),
    ]
    proto = model(nodes, {**activations, **constants})
    assert largest_error(proto) <= (0.01 if same and name != "clip" else LSB)


@pytest.mark.parametrize("kind", [INT8, UINT8])
@pytest.mark.parametrize("constant", [True, False], ids=["zero point", "missing value"])
def test_pads_on_codes_are_codes(kind, constant):
    activations = SIGNED if kind == INT8 else UNSIGNED
    nodes = [
        node("Pad", "x pads" + (" x_z" if constant else ""), "p"),
        node("DequantizeLinear", "p x_s x_z", "y"),
    ]
    proto = model(
        nodes, {**activations, "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1])}, kinds=(kind, FLOAT)
    )
    assert largest_error(proto) <= 0.01


@pytest.mark.parametrize("op_type", ["Relu", "Clip"])
def test_bounds_on_codes_are_codes(op_type):
    nodes = [
        node(op_type, "x" + (" low high" if op_type == "Clip" else ""), "p"),
        node("DequantizeLinear", "p x_s x_z", "y"),
    ]
    bounds = {"low": np.int8(-30), "high": np.int8(90)} if op_type == "Clip" else {}
    proto = model(nodes, {**SIGNED, **bounds}, kinds=(INT8, FLOAT), opset=14)
    assert largest_error(proto) <= 0.01


@pytest.mark.parametrize("kind", [INT8, UINT8])
def test_inputs_and_outputs_may_be_codes(kind):
    activations = SIGNED if kind == INT8 else UNSIGNED
    nodes = [
        node("DequantizeLinear", "x x_s x_z", "xq"),
        node("Relu", "xq", "r"),
        node("QuantizeLinear", "r y_s y_z", "y"),
    ]
    proto = model(nodes, activations, kinds=(kind, kind))
    assert largest_error(proto) <= LSB
    shift = 128 if kind == UINT8 else 0
    assert converted(proto).graph.types["y"].q.zero_point == int(activations["y_z"]) - shift


def test_softmax_at_1_255_is_computed_at_1_256():
    """The integer softmax knows one output scale; values differ by less than 1.5 steps."""
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        node("Softmax", "xq", "s", axis=-1),
        *quantized("s", "y", "y_s", "y_z"),
    ]
    constants = {**SIGNED, "y_s": 1 / 255, "y_z": np.int8(-128)}
    proto = model(nodes, constants, x=(1, 10))
    made = converted(proto)
    assert made.graph.types[made.graph.outputs[0]].q == Quant((1 / 256,), -128)
    assert largest_error(proto) <= 1.5
    (note,) = read(proto, "m").notes
    assert note.startswith("Softmax n_s: the model states an output scale of 1/255 (zero point -12")
    assert "the kernel has 1/256 (zero point -128)" in note


@pytest.mark.parametrize(("scale", "zero", "count"), [(1 / 256, -128, 0), (1 / 256, -127, 1)])
def test_softmax_at_another_scale_brings_a_note_behind_reshapes_too(scale, zero, count):
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        node("Softmax", "xq", "s", axis=-1),
        node("Reshape", "s shape", "r"),
        *quantized("r", "y", "y_s", "y_z"),
    ]
    shape = np.array([10, 1], np.int64)
    constants = {**SIGNED, "y_s": scale, "y_z": np.int8(zero), "shape": shape}
    assert len(read(model(nodes, constants, x=(1, 10)), "m").notes) == count


def test_a_missing_output_scale_asks_for_calibration(tmp_path):
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        node("DequantizeLinear", "w w_s", "wq", axis=0),
        node("Conv", "xq wq", "y"),
    ]
    proto = model(nodes, {**SIGNED, "w": W, "w_s": SCALES})
    onnx.save(proto, tmp_path / "m.onnx")
    with pytest.raises(InputRefused) as caught:
        pipeline.convert(tmp_path / "m.onnx", None, "nucleo-f446re", tmp_path / "out")
    assert "states no scale for y" in caught.value.reason
    assert "--calib" in caught.value.hint
    assert not (tmp_path / "out").exists()
    made = converted(proto, RNG.uniform(-6, 6, (8, 3, 6, 6)).astype(np.float32))
    assert made.calibrated == ("y",)
    np.testing.assert_array_equal(
        made.graph.constants[_layer(made, Conv2D).inputs[1]], W.transpose(0, 2, 3, 1)
    )


def test_float_operators_among_quantised_ones_are_calibrated():
    nodes = [
        *quantized("x", "xq", "x_s", "x_z"),
        node("DequantizeLinear", "w w_s", "wq", axis=0),
        node("Conv", "xq wq", "c"),
        node("Tanh", "c", "t"),
        node("Mul", "t t", "m"),
        node("GlobalAveragePool", "m", "g"),
        *quantized("g", "y", "y_s", "y_z"),
    ]
    proto = model(nodes, {**SIGNED, "w": W, "w_s": SCALES, "y_s": 0.008, "y_z": np.int8(-128)})
    samples = RNG.uniform(-6, 6, (20, 3, 6, 6)).astype(np.float32)
    made = converted(proto, samples)
    assert made.calibrated
    assert "y" not in made.calibrated
    assert largest_error(proto, samples=samples) <= 4.0


def test_weights_alone_may_be_quantised():
    nodes = [
        node("DequantizeLinear", "w w_s", "wq", axis=0),
        node("Conv", "x wq", "y"),
    ]
    made = converted(
        model(nodes, {"w": W, "w_s": SCALES}), RNG.uniform(-1, 1, (8, 3, 6, 6)).astype(np.float32)
    )
    assert made.calibrated == ("x", "y")
    own = made.graph.constants[_layer(made, Conv2D).inputs[1]]
    np.testing.assert_array_equal(own, W.transpose(0, 2, 3, 1))


def test_16_bit_activations_that_are_not_symmetric_are_refused_by_name():
    wide = {"x_s": 0.001, "x_z": np.int16(3)}
    with pytest.raises(InputRefused, match="int16 activations") as caught:
        converted(model(quantized("x", "y", "x_s", "x_z"), wide, opset=21))
    assert "symmetrically" in str(caught.value) + caught.value.hint


def test_4_bit_weights_are_refused_by_name():
    proto = _conv(weights={"w": W, "w_s": np.float32(0.004)})
    for tensor in proto.graph.initializer:
        if tensor.name == "w":
            packed = onnx.helper.make_tensor(
                "w", onnx.TensorProto.INT4, W.shape, np.clip(W, -8, 7).ravel()
            )
            tensor.CopyFrom(packed)
    proto.opset_import[0].version = 21
    with pytest.raises(InputRefused, match="int4 weights"):
        converted(proto)


def test_blocked_scales_are_refused():
    codes = RNG.integers(-100, 100, (8, 5)).astype(np.int8)
    nodes = [
        node("DequantizeLinear", "w w_s", "wq", axis=0, block_size=4),
        node("MatMul", "x wq", "y"),
    ]
    constants = {"w": codes, "w_s": RNG.uniform(0.001, 0.01, (2, 5))}
    with pytest.raises(InputRefused, match="blocked"):
        converted(model(nodes, constants, x=(1, 8), opset=21))


def test_an_activation_with_a_scale_per_channel_is_refused():
    nodes = [
        node("QuantizeLinear", "x s z", "q", axis=1),
        node("DequantizeLinear", "q s z", "y", axis=1),
    ]
    constants = {"s": np.array([0.1, 0.2, 0.3]), "z": np.zeros(3, np.int8)}
    with pytest.raises(InputRefused, match="one scale per channel"):
        converted(model(nodes, constants))


def test_a_scale_computed_at_run_time_is_refused():
    nodes = [
        node("ReduceMax", "x", "s", keepdims=0),
        node("QuantizeLinear", "x s", "q"),
        node("DequantizeLinear", "q s", "y"),
    ]
    with pytest.raises(InputRefused, match="run time"):
        converted(model(nodes, {}))


@pytest.mark.parametrize("groups", [1, 3])
def test_stated_numbers_reach_the_project(groups, tmp_path: Path):
    """One scale for all channels: the C tables still hold one entry per channel."""
    weights = {"w": W[: 4 if groups == 1 else 3, : 3 // groups], "w_s": np.float32(0.004)}
    proto = _conv(weights=weights, group=groups)
    onnx.save(proto, tmp_path / "m.onnx")
    plain = ConvertOptions(kernels=Family.PORTABLE)
    project = pipeline.convert(tmp_path / "m.onnx", None, "nucleo-f446re", tmp_path / "out", plain)
    graph = project.graph()
    tables = (tmp_path / "out" / "m_weights.c").read_text()
    channels = len(weights["w"])
    assert f"multiplier[{channels}]" in tables
    assert all(t.dtype in (DType.INT8, DType.INT32) for t in graph.types.values())
