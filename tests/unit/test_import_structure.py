"""How a model may be written: constants, optional inputs, functions, external data, outputs."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.unit.import_oracle import agree, kinds, model, node, normal
from toolchain.errors import InputRefused
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read


def saved(proto: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save(proto, path)
    return path


@pytest.mark.parametrize("opset", range(7, 24))
def test_r16_a_small_net_at_every_opset_from_7_to_23(opset, tmp_path):
    axes = {"axes": [2, 3]} if opset < 18 else {}
    mean = node("ReduceMean", "p a" if opset >= 18 else "p", "g", keepdims=0, **axes)
    bounds = {"min": -1.0, "max": 4.0} if opset < 11 else {}
    clip = node("Clip", "c lo hi" if opset >= 11 else "c", "k", **bounds)
    nodes = [
        node("Conv", "x w b", "c0", auto_pad="SAME_UPPER", strides=[2, 2]),
        node("BatchNormalization", "c0 s o m v", "c"), clip,
        node("MaxPool", "k", "p", kernel_shape=[2, 2]), mean,
        node("Gemm", "g u d", "z", transB=1), node("Softmax", "z"),
    ]  # fmt: skip
    constants = {n: np.abs(normal(4, seed=i)) + 0.1 for i, n in enumerate("somv")}
    constants |= {"w": normal(4, 3, 4, 4), "b": normal(4), "u": normal(5, 4), "d": normal(5)}
    if opset >= 11:
        constants |= {"lo": np.float32(-1), "hi": np.float32(4)}
    if opset >= 18:
        constants["a"] = np.array([2, 3])
    proto = model(*nodes, opset=opset, **constants)
    graph = agree(load_model(saved(proto, tmp_path)))
    assert [k for k in kinds(graph) if k not in ("Reshape", "Transpose")] == [
        "Conv2D", "MaxPool", "AveragePool", "FullyConnected", "Softmax",
    ]  # fmt: skip


@pytest.mark.parametrize("opset", [6, 24, 28])
def test_opset_out_of_range_is_refused_with_the_range(opset, tmp_path):
    with pytest.raises(InputRefused, match=rf"opset {opset}; 7 to 23"):
        load_model(saved(model(node("Relu", "x"), opset=opset), tmp_path))


def test_a_model_without_onnx_operators_of_its_own_domain_is_refused(tmp_path):
    proto = model(node("Relu", "x"))
    del proto.opset_import[:]
    with pytest.raises(InputRefused, match="opset 0"):
        load_model(saved(proto, tmp_path))


def test_the_domain_may_be_spelled_ai_onnx(tmp_path):
    relu = node("Relu", "x")
    relu.domain = "ai.onnx"
    proto = model(relu)
    proto.opset_import[0].domain = "ai.onnx"
    assert kinds(read(load_model(saved(proto, tmp_path)), "m").graph) == ["Unary"]


def test_r14_initialisers_that_are_also_listed_as_inputs_are_constants():
    nodes = [node("Conv", "x w b", "c"), node("Relu", "c")]
    proto = model(*nodes, listed=True, w=normal(4, 3, 3, 3), b=normal(4))
    imported = read(proto, "m")
    assert [s.name for s in imported.inputs] == ["x"]
    agree(proto)


CONSTANTS = {
    "value": helper.make_tensor("v", TensorProto.FLOAT, [3, 1, 1], [1.0, 2.0, 3.0]),
    "value_float": 2.5,
    "value_floats": [1.0, 2.0, 3.0, 4.0],
}


@pytest.mark.parametrize("kind", CONSTANTS)
def test_r14_constant_nodes_of_every_float_kind(kind):
    nodes = [node("Constant", [], "c", **{kind: CONSTANTS[kind]}), node("Mul", "x c")]
    agree(model(*nodes, x=(1, 3, 5, 4)))


@pytest.mark.parametrize("kind", ["value", "value_ints"])
def test_r14_constant_nodes_of_integers(kind):
    value = [1, -1] if kind == "value_ints" else helper.make_tensor("v", 7, [2], [1, -1])
    nodes = [node("Constant", [], "s", **{kind: value}), node("Reshape", "x s")]
    agree(model(*nodes))


def test_r14_constant_node_of_one_integer():
    nodes = [
        node("Constant", [], "i", value_int=2), node("Cast", "i", "f", to=1), node("Mul", "x f")
    ]  # fmt: skip
    agree(model(*nodes))


def test_r14_weights_from_constant_nodes_identities_and_transposes():
    nodes = [
        node("Constant", [], "w0", value=numpy_helper.from_array(normal(6, 5))),
        node("Identity", "w0", "w1"), node("Transpose", "w1", "w2", perm=[1, 0]),
        node("Gemm", "x w2 b"),
    ]  # fmt: skip
    assert kinds(agree(model(*nodes, x=(1, 5), b=normal(6)))) == ["FullyConnected"]


def test_weights_computed_from_constants_fold_away():
    nodes = [
        node("Sub", "w mean", "w0"), node("Mul", "w0 g", "w1"), node("Cast", "w1", "w2", to=1),
        node("Conv", "x w2"),
    ]  # fmt: skip
    constants = {"w": normal(4, 3, 3, 3), "mean": normal(4, 1, 1, 1), "g": np.float32(0.5)}
    graph = agree(model(*nodes, **constants))
    assert kinds(graph) == ["Transpose", "Conv2D", "Transpose"]


def test_float16_weights_behind_a_cast_are_read():
    nodes = [node("Cast", "h", "w", to=1), node("MatMul", "x w")]
    proto = model(*nodes, x=(1, 5))
    proto.graph.initializer.append(numpy_helper.from_array(normal(5, 3).astype(np.float16), "h"))
    agree(proto)


def scaled_relu() -> onnx.FunctionProto:
    return helper.make_function(
        "own", "ScaledRelu", ["a", "g"], ["z"],
        [helper.make_node("Mul", ["a", "g"], ["m"]), helper.make_node("Relu", ["m"], ["z"])],
        [helper.make_opsetid("", 13)], [],
    )  # fmt: skip


def test_r20_model_local_functions_are_inlined(tmp_path):
    calls = [
        helper.make_node("ScaledRelu", ["x", "g"], ["h"], domain="own"),
        helper.make_node("ScaledRelu", ["h", "g"], ["y"], domain="own"),
    ]
    proto = model(*calls, g=np.float32(-2))
    proto.opset_import.append(helper.make_opsetid("own", 1))
    proto.functions.append(scaled_relu())
    graph = agree(load_model(saved(proto, tmp_path)))
    assert kinds(graph) == ["Unary"]


@pytest.mark.parametrize("version", [7, 12])
def test_r20_a_function_of_an_older_opset_is_converted(version, tmp_path):
    function = scaled_relu()
    function.opset_import[0].version = version
    call = helper.make_node("ScaledRelu", ["x", "g"], ["y"], domain="own")
    proto = model(call, g=np.float32(2))
    proto.opset_import.append(helper.make_opsetid("own", 1))
    proto.functions.append(function)
    assert kinds(read(load_model(saved(proto, tmp_path)), "m").graph) == ["Unary", "Unary"]


def test_r20_a_function_that_cannot_be_inlined_is_refused(tmp_path):
    function = scaled_relu()
    function.opset_import[0].version = 23
    call = helper.make_node("ScaledRelu", ["x", "g"], ["y"], domain="own")
    proto = model(call, g=np.float32(2))
    proto.opset_import.append(helper.make_opsetid("own", 1))
    proto.functions.append(function)
    with pytest.raises(InputRefused, match="inlined"):
        load_model(saved(proto, tmp_path))


def with_external_data(folder: Path, location: str) -> Path:
    proto = model(node("MatMul", "x w"), x=(1, 64), w=normal(64, 32))
    onnx.save(
        proto, folder / "model.onnx", save_as_external_data=True, location="w.bin", size_threshold=0
    )
    stored = onnx.load(folder / "model.onnx", load_external_data=False)
    for entry in stored.graph.initializer[0].external_data:
        if entry.key == "location":
            entry.value = location
    (folder / "model.onnx").write_bytes(stored.SerializeToString())
    return folder / "model.onnx"


def test_r20_external_data_is_read_from_beside_the_model(tmp_path):
    agree(load_model(with_external_data(tmp_path, "w.bin")))


@pytest.mark.parametrize("location", ["../w.bin", "/etc/hostname", "missing.bin", ""])
def test_r20_external_data_outside_the_folder_or_missing_is_refused(location, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "w.bin").write_bytes(bytes(64 * 32 * 4))
    with pytest.raises(InputRefused, match="external data"):
        load_model(with_external_data(inner, location))


def test_r20_external_data_through_a_link_out_of_the_folder_is_refused(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(64 * 32 * 4))
    path = with_external_data(inner, "link.bin")
    (inner / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(InputRefused, match="external data"):
        load_model(path)


def test_r20_external_data_that_is_too_short_is_refused(tmp_path):
    path = with_external_data(tmp_path, "w.bin")
    (tmp_path / "w.bin").write_bytes(b"short")
    with pytest.raises(InputRefused, match=r"data|initialiser"):
        read(load_model(path), "m")


def test_two_outputs_and_two_inputs():
    nodes = [node("Add", "a b", "s"), node("Relu", "s", "y"), node("Tanh", "s", "z")]
    agree(model(*nodes, inputs={"a": (1, 5), "b": (1, 5)}, outputs="y z"))


def test_r24_an_output_that_is_also_consumed_keeps_its_value():
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "y"), node("Conv", "y u", "z")]
    agree(model(*nodes, outputs="y z c", w=normal(4, 3, 3, 3), u=normal(2, 4, 3, 3)))


def test_r24_an_input_returned_as_an_output_keeps_its_value():
    nodes = [node("Identity", "x", "y"), node("Relu", "x", "z")]
    agree(model(*nodes, outputs="y z"))


def test_r24_a_transposed_input_returned_as_an_output_keeps_its_value():
    nodes = [node("Transpose", "x", "y", perm=[0, 2, 3, 1]), node("Conv", "x w", "z")]
    agree(model(*nodes, outputs="y z", w=normal(4, 3, 3, 3)))


def test_nodes_nobody_needs_are_left_out_even_when_they_are_unsupported():
    nodes = [node("Relu", "x"), node("NonZero", "x", "n")]
    assert kinds(agree(model(*nodes))) == ["Unary"]


def test_only_the_outputs_asked_for_are_kept():
    nodes = [node("Relu", "x", "y"), node("Erf", "x", "z")]
    proto = model(*nodes, outputs="y z")
    assert read(proto, "m", outputs=["y"]).graph.outputs == ("y",)
    with pytest.raises(InputRefused, match="no output of this name"):
        read(proto, "m", outputs=["q"])


def test_integer_outputs_are_left_out_with_a_note():
    proto = model(node("Relu", "x"), node("ArgMax", "y", "label"), outputs="y")
    proto.graph.output.append(helper.make_tensor_value_info("label", TensorProto.INT64, None))
    imported = read(proto, "m")
    assert imported.graph.outputs == ("y",)
    assert any("label" in note for note in imported.notes)


@pytest.mark.parametrize("largest", [0, 1])
def test_the_best_of_an_axis_and_its_index(largest):
    top = node("TopK", "x k", "v i", axis=1, largest=largest)
    k = np.array([1], np.int64)
    imported = read(model(top, node("Cast", "i", to=TensorProto.FLOAT), outputs="v y", k=k), "m")
    assert set(kinds(imported.graph)) >= {"ReduceExtreme", "ArgExtreme"}
    agree(model(top, outputs="v", k=k))
    agree(model(top, node("Cast", "i", to=TensorProto.FLOAT), k=k))


@pytest.mark.parametrize("kept", ["v i", "v i s"])
def test_the_index_of_the_best_value_is_left_out_only_beside_the_scores(kept):
    top = node("TopK", "s k", "v i", axis=1)
    proto = model(node("Sigmoid", "x", "s"), top, outputs=kept, k=np.array([1], np.int64))
    next(
        o for o in proto.graph.output if o.name == "i"
    ).type.tensor_type.elem_type = TensorProto.INT64
    imported = read(proto, "m")
    assert imported.graph.outputs == (("v", "s") if "s" in kept.split() else ("v", "i"))
    assert any("output i holds no" in note for note in imported.notes) is ("s" in kept.split())


@pytest.mark.parametrize("inputs", [[], ["label"]], ids=["nothing", "itself"])
def test_an_integer_output_that_comes_from_nowhere_is_refused(inputs):
    proto = model(node("Relu", "x"), outputs="y")
    proto.graph.node.append(helper.make_node("Identity", inputs, ["label"], "made"))
    del proto.graph.output[:]
    proto.graph.output.append(helper.make_tensor_value_info("label", TensorProto.INT64, None))
    with pytest.raises(InputRefused):
        read(proto, "m")


def test_more_than_the_best_is_refused():
    top = node("TopK", "x k", "y i", axis=1)
    with pytest.raises(InputRefused, match="TopK with k = 2"):
        read(model(top, k=np.array([2], np.int64)), "m")


def test_an_output_without_a_declared_type_is_taken_as_float():
    proto = model(node("Relu", "x"))
    proto.graph.output[0].ClearField("type")
    assert read(proto, "m").graph.outputs == ("y",)


def test_an_output_that_does_not_depend_on_the_input_is_refused():
    with pytest.raises(InputRefused, match="does not depend on the input"):
        read(model(node("Relu", "x"), outputs="y w", w=normal(3)), "m")


def test_an_output_nobody_computes_is_refused():
    with pytest.raises(InputRefused, match="q"):
        read(model(node("Relu", "x"), outputs="y q"), "m")


def test_nodes_without_names_are_named_after_their_output():
    relu = node("Relu", "x")
    relu.name = ""
    (op,) = read(model(relu), "m").graph.ops
    assert op.name == "Relu:y"


@pytest.mark.parametrize("name", ["a b", "ä/ö:1", "int", "x" * 300, "1", "/conv/Conv_output_0"])
def test_r29_tensor_names_may_hold_any_character(name):
    nodes = [
        helper.make_node("Conv", ["x", "w"], [name], name=name),
        helper.make_node("Relu", [name], ["y"]),
    ]
    agree(model(*nodes, w=normal(4, 3, 3, 3)))


def test_r29_tensor_names_that_look_like_our_own_do_not_collide():
    nodes = [
        node("Relu", "x", "x.nhwc"), node("Conv", "x w", "y.nhwc"), node("Relu", "y.nhwc", "y"),
        node("Conv", "x.nhwc w", "y.filter"), node("Sigmoid", "y.filter", "y.moved"),
        node("Mul", "y.moved y.filter", "z"),
    ]  # fmt: skip
    agree(model(*nodes, outputs="y z", w=normal(4, 3, 3, 3)))
