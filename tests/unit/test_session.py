import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from toolchain.errors import InputRefused
from toolchain.frontend.session import FloatSession


def small_model(batch: int | str = "N", opset: int = 13, ir_version: int = 8) -> onnx.ModelProto:
    """Y = relu(x @ w), with an intermediate tensor h nobody has declared a type for."""
    weight = numpy_helper.from_array(np.array([[1, -1], [2, 1]], np.float32), "w")
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["h"]),
            helper.make_node("Relu", ["h"], ["y"]),
            helper.make_node("Shape", ["h"], ["s"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 2])],
        [weight],
    )
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)


SAMPLE = {"x": np.array([[1.0, -2.0]], np.float32)}


@pytest.mark.parametrize("batch", [1, "N"])
def test_returns_outputs_and_named_tensors(batch):
    session = FloatSession(small_model(batch), ["h", "x", "w", "s", "y", "h"])
    values = session.run(SAMPLE)
    assert sorted(values) == ["h", "s", "w", "x", "y"]
    np.testing.assert_array_equal(values["h"], [[-3.0, -3.0]])
    np.testing.assert_array_equal(values["y"], [[0.0, 0.0]])
    np.testing.assert_array_equal(values["s"], [1, 2])
    np.testing.assert_array_equal(values["x"], SAMPLE["x"])
    np.testing.assert_array_equal(values["w"], [[1, -1], [2, 1]])
    assert session.inputs == ("x",)
    assert session.outputs == ("y",)


def test_only_outputs_without_names():
    assert list(FloatSession(small_model().SerializeToString()).run(SAMPLE)) == ["y"]


def test_given_model_is_not_changed():
    model = small_model(ir_version=40)
    before = model.SerializeToString()
    FloatSession(model, ["h"])
    assert model.SerializeToString() == before


@pytest.mark.parametrize(("opset", "ir_version"), [(7, 3), (13, 8), (23, 40)])
def test_opsets_and_ir_versions(opset, ir_version):
    model = small_model(opset=opset, ir_version=ir_version)
    if ir_version < 4:  # initialisers had to be inputs then
        model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [2, 2]))
    session = FloatSession(model, ["h", "w"])
    assert session.inputs == ("x",)
    np.testing.assert_array_equal(session.run(SAMPLE)["h"], [[-3.0, -3.0]])


@pytest.mark.parametrize(
    ("model", "tensors", "text"),
    [
        (b"this is not a model at all", (), "not an ONNX model"),
        (small_model(opset=999), (), "ONNX Runtime refuses it"),
        (small_model(), ("nowhere",), "nowhere: the model has no tensor"),
    ],
)
def test_refuses_models(model, tensors, text):
    with pytest.raises(InputRefused, match=text) as caught:
        FloatSession(model, tensors)
    assert caught.value.stage == "reference"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        ({"z": SAMPLE["x"]}, "no value for this input, only z"),
        ({"x": np.zeros((1, 2), np.int8)}, "takes floats here, the sample holds int8 codes"),
        ({"x": np.zeros((1, 3), np.float32)}, "cannot run it"),
    ],
)
def test_refuses_samples(sample, text):
    with pytest.raises(InputRefused, match=text):
        FloatSession(small_model()).run(sample)


def test_integer_inputs_take_whole_numbers_only():
    model = small_model()
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT8
    model.graph.node[0].input[0] = "f"
    model.graph.node.insert(0, helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT))
    session = FloatSession(model, ["h"])
    np.testing.assert_array_equal(session.run(SAMPLE)["h"], [[-3.0, -3.0]])
    with pytest.raises(InputRefused, match="takes int8"):
        session.run({"x": np.array([[1.5, 2.0]])})


@pytest.mark.parametrize(
    "name",
    [
        "t_digits_resnet__legacy_op11",
        "t_digits_resnet__dynamo_op23",
        "q_digits_resnet__qop_pc_MinMax_u8",
    ],
)
def test_real_models_show_every_tensor(shared, name):
    model = onnx.load(shared / "models" / f"{name}.onnx")
    names = [output for node in model.graph.node for output in node.output if output]
    x = np.load(shared / "data" / "digits.npz")["x_test"][:1]
    values = FloatSession(model, names).run({model.graph.input[0].name: x})
    assert set(values) >= set(names)
    plain = FloatSession(model)
    for output, value in plain.run({model.graph.input[0].name: x}).items():
        np.testing.assert_array_equal(value, values[output])
