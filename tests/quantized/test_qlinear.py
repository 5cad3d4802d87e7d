"""QLinear operators in QDQ form equal ONNX Runtime's own kernels within one step of the output.

Weights are small here: with large ones ONNX Runtime's 16-bit sums of uint8 activations and int8
weights saturate on processors without VNNI, which is why the tool's reference runs the QDQ form.
"""

import numpy as np
import onnx
import pytest
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from tests.quantized.small import (
    FLOAT,
    INT8,
    MICROSOFT,
    UINT8,
    converted,
    largest_error,
    model,
    node,
)
from toolchain.errors import InputRefused
from toolchain.frontend.codes import real_constants
from toolchain.frontend.load import load_model
from toolchain.frontend.qoperator import _RULES, to_qdq
from toolchain.frontend.session import FloatSession

RNG = np.random.default_rng(3)
PARAMETERS = {
    "uint8": {"x_s": 0.05, "x_z": np.uint8(120), "y_s": 0.07, "y_z": np.uint8(131)},
    "int8": {"x_s": 0.05, "x_z": np.int8(-8), "y_s": 0.07, "y_z": np.int8(3)},
}
KINDS = {"uint8": UINT8, "int8": INT8}


def _weights(*shape: int) -> np.ndarray:
    return RNG.integers(-30, 31, shape).astype(np.int8)


SCALES = RNG.uniform(0.004, 0.02, 4).astype(np.float32)
ZEROS = np.zeros(4, np.int8)
BIAS = RNG.integers(-500, 500, 4).astype(np.int32)
SIDE = {"uint8": np.uint8(99), "int8": np.int8(-29)}
CASES = {
    "QLinearConv": lambda k: (
        node("QLinearConv", "x x_s x_z w w_s w_z y_s y_z b", "y", pads=[1, 1, 1, 1]),
        {"w": _weights(4, 3, 3, 3), "w_s": SCALES, "w_z": ZEROS, "b": BIAS},
    ),
    "QLinearConv without bias, one scale": lambda k: (
        node("QLinearConv", "x x_s x_z w w_s w_z y_s y_z", "y", strides=[2, 2]),
        {"w": _weights(4, 3, 2, 2), "w_s": np.float32(0.02), "w_z": np.int8(0)},
    ),
    "QLinearConv depthwise": lambda k: (
        node("QLinearConv", "x x_s x_z w w_s w_z y_s y_z b", "y", group=3),
        {"w": _weights(3, 1, 3, 3), "w_s": SCALES[:3], "w_z": ZEROS[:3], "b": BIAS[:3]},
    ),
    "QLinearMatMul": lambda k: (
        node("QLinearMatMul", "x x_s x_z w w_s w_z y_s y_z", "y"),
        {"w": _weights(6, 4), "w_s": np.float32(0.01), "w_z": np.int8(0)},
    ),
    "QLinearMatMul per column": lambda k: (
        node("QLinearMatMul", "x x_s x_z w w_s w_z y_s y_z", "y"),
        {"w": _weights(6, 4), "w_s": SCALES, "w_z": ZEROS},
    ),
    "QLinearAdd": lambda k: (
        node("QLinearAdd", "x x_s x_z a a_s a_z y_s y_z", "y", MICROSOFT),
        {"a": RNG.integers(0, 127, (1, 3, 6, 6)).astype(k), "a_s": 0.12, "a_z": SIDE[k]},
    ),
    "QLinearMul": lambda k: (
        node("QLinearMul", "x x_s x_z x x_s x_z a_s a_z", "y", MICROSOFT),
        {"a_s": 0.2, "a_z": SIDE[k]},
    ),
    "QLinearAveragePool": lambda k: (
        node("QLinearAveragePool", "x x_s x_z y_s y_z", "y", MICROSOFT, kernel_shape=[3, 3]),
        {},
    ),
    "QLinearGlobalAveragePool": lambda k: (
        node("QLinearGlobalAveragePool", "x x_s x_z y_s y_z", "y", MICROSOFT, channels_last=0),
        {},
    ),
    "QLinearReduceMean": lambda k: (
        node("QLinearReduceMean", "x x_s x_z y_s y_z", "y", MICROSOFT, axes=[2, 3], keepdims=0),
        {},
    ),
    "QLinearLeakyRelu": lambda k: (
        node("QLinearLeakyRelu", "x x_s x_z y_s y_z", "y", MICROSOFT, alpha=0.1),
        {},
    ),
    "QLinearSigmoid": lambda k: (
        node("QLinearSigmoid", "x x_s x_z p_s p_z", "y", MICROSOFT),
        {"p_s": 1 / 256, "p_z": np.uint8(0) if k == "uint8" else np.int8(-128)},
    ),
    "QLinearSoftmax": lambda k: (
        node("QLinearSoftmax", "x x_s x_z p_s p_z", "y", MICROSOFT, axis=3, opset=13),
        {"p_s": 1 / 256, "p_z": np.uint8(0) if k == "uint8" else np.int8(-128)},
    ),
    "QLinearConcat": lambda k: (
        node("QLinearConcat", "y_s y_z x x_s x_z x x_s x_z", "y", MICROSOFT, axis=1),
        {},
    ),
}
ONE_SIDED = {"QLinearReduceMean"}
"""ONNX Runtime has no kernel of its own that runs here."""


def _case(name: str, kind: str) -> ModelProto:
    made, constants = CASES[name](kind)
    kinds = (KINDS[kind], KINDS[kind])
    return model([made], {**PARAMETERS[kind], **constants}, kinds=kinds)


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("name", CASES)
def test_the_integer_form_equals_onnx_runtime(name: str, kind: str) -> None:
    proto = _case(name, kind)
    reference = to_qdq(proto) if name in ONE_SIDED else proto
    assert largest_error(reference) <= (2.01 if name == "QLinearSoftmax" else 1.01)
    ops = {n.op_type for n in to_qdq(proto).graph.node}
    assert not ops & set(_RULES)
    assert not converted(proto).calibrated


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("quantised", [True, False], ids=["codes", "floats"])
def test_qgemm(kind: str, transposed: int, quantised: bool) -> None:
    w = _weights(4, 6) if transposed else _weights(6, 4)
    tail = " y_s y_z" if quantised else ""
    gemm = node(
        "QGemm", "x x_s x_z w w_s w_z b" + tail, "y", MICROSOFT, transB=transposed, alpha=1.0
    )
    constants = {**PARAMETERS[kind], "w": w, "w_s": SCALES, "w_z": ZEROS, "b": BIAS}
    kinds = (KINDS[kind], KINDS[kind] if quantised else FLOAT)
    proto = model([gemm], constants, x=(1, 6), kinds=kinds)
    samples = RNG.integers(0, 100, (8, 1, 6)).astype(np.uint8 if kind == "uint8" else np.int8)
    if quantised:
        assert largest_error(proto) <= 1.01
        return
    made = converted(proto, samples)
    assert made.calibrated == ("y",)


def test_biases_keep_their_codes() -> None:
    made = converted(_case("QLinearConv", "uint8"))
    assert any(np.array_equal(c, BIAS) for c in made.graph.constants.values())


def test_every_rule_is_tried() -> None:
    assert {name.split()[0] for name in CASES} | {"QGemm"} == set(_RULES)


def test_other_models_come_back_as_they_are() -> None:
    proto = model([node("Relu", "x", "y")], {})
    assert to_qdq(proto) is proto


def test_pads_between_qlinear_operators_are_codes() -> None:
    """The pad value of these files is the code of zero; taken for a real value it ruins them."""
    pad = node("Pad", "x pads x_z", "p")
    conv = node("QLinearConv", "p x_s x_z w w_s w_z y_s y_z", "y")
    constants = {
        **PARAMETERS["uint8"],
        "pads": np.array([0, 0, 2, 2, 0, 0, 0, 0]),
        "w": _weights(4, 3, 3, 3),
        "w_s": SCALES,
        "w_z": ZEROS,
    }
    proto = model([pad, conv], constants, kinds=(UINT8, UINT8))
    assert largest_error(proto) <= 1.01


def test_the_qdq_form_of_a_model_is_what_onnx_itself_computes(shared):
    """ONNX Runtime's kernels do not where 16-bit sums saturate; so they are no reference here."""
    path = shared / "models" / "q_mlperf_ic__qop_pc_MinMax_u8.onnx"
    original = onnx.load(path)
    second = [n for n in original.graph.node if n.op_type == "QLinearConv"][1].output[0]
    with np.load(shared / "data" / "crops.npz") as stored:
        samples = stored["ic"][:2].astype(np.float32)
    end = onnx.helper.make_tensor_value_info(second, onnx.TensorProto.UINT8, None)
    original.graph.output.append(end)
    reference = ReferenceEvaluator(_until(original, second))
    session = FloatSession(load_model(path), [second])
    for sample in samples:
        feeds = {original.graph.input[0].name: sample[None]}
        (exact,) = reference.run(None, feeds)
        off = exact.astype(int) - session.run(feeds)[second].astype(int)
        assert np.abs(off).max() <= 1
        assert np.count_nonzero(off) <= off.size / 1000


def _until(model, tensor):
    """The model up to one of its tensors."""
    wanted, nodes = {tensor}, []
    for made in reversed(model.graph.node):
        if wanted & set(made.output):
            nodes.append(made)
            wanted |= set(made.input)
    cut = onnx.ModelProto()
    cut.CopyFrom(model)
    del cut.graph.node[:], cut.graph.output[:]
    cut.graph.node.extend(nodes[::-1])
    cut.graph.output.extend(o for o in model.graph.output if o.name == tensor)
    return cut


@pytest.mark.parametrize("inputs", ["", "x", "x s", "x s z w s z y"])
def test_a_qlinear_node_of_another_form_is_refused(inputs):
    proto = model([node("QLinearConv", inputs, "y")], {})
    with pytest.raises(InputRefused, match="QLinearConv 'n_y'") as caught:
        to_qdq(proto)
    assert caught.value.hint


@pytest.mark.parametrize("op_type", ["Relu", "QuantizeLinear", "DequantizeLinear", "Reshape"])
def test_nodes_without_inputs_or_outputs_do_not_disturb(op_type):
    proto = model([node("Relu", "x", "y")], {})
    proto.graph.node.add(op_type=op_type)
    proto.graph.node.add(op_type=op_type, input=["x"])
    assert real_constants(proto) is proto
