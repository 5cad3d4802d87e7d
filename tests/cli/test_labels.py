"""Models that end in ArgMax: classes instead of scores, in the firmware and in the figures."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.cli import nets
from toolchain.project import Project


def _ended(path, source, *nodes):
    """The net with nodes after its output, whose last result is the output instead."""
    net = onnx.load(source)
    previous = net.graph.output[0].name
    for index, (op_type, attributes) in enumerate(nodes):
        name = f"label_{index}"
        net.graph.node.append(helper.make_node(op_type, [previous], [name], name, **attributes))
        previous = name
    kind = TensorProto.INT32 if nodes[-1][0] == "Cast" else TensorProto.INT64
    del net.graph.output[:]
    net.graph.output.append(helper.make_tensor_value_info(previous, kind, None))
    onnx.save(net, path)
    return path


@pytest.fixture
def labelling(model, tmp_path):
    """A classifier that gives its label as int32, as TensorFlow's converter writes it."""
    argmax, cast = ("ArgMax", {"axis": 1, "keepdims": 0}), ("Cast", {"to": TensorProto.INT32})
    return _ended(tmp_path / "labels.onnx", model, argmax, cast)


@pytest.mark.emulator
def test_labels_are_judged_as_classes(onnx2mcu, arguments, labelling, labelled, tmp_path):
    assert onnx2mcu(*arguments(model=labelling)).code == 0
    done = onnx2mcu("compare", tmp_path / "out", "--data", labelled, "--max-drop", 1, "--json")
    assert (done.code, done.err) == (0, "")
    record = json.loads(done.out)
    assert record["bit_exact"] is True
    assert record["agreement"] >= 0.75
    with np.load(labelled) as data:
        assert round(record["accuracy_float"] * len(data["labels"]), 6).is_integer()
    assert record["cosine"] == pytest.approx(record["agreement"])
    unknown = [layer["name"] for layer in record["layers"] if layer["sqnr_db"] is None]
    assert unknown == [record["layers"][-1]["name"]] == ["label_0"]
    shown = onnx2mcu("compare", tmp_path / "out", "--data", labelled, "--max-drop", 1)
    (row,) = (line.split() for line in shown.out.splitlines() if line.startswith("label_0"))
    assert row == ["label_0", "-"]


@pytest.mark.emulator
def test_a_wrong_label_fails_the_gate(onnx2mcu, arguments, labelling, labelled, tmp_path):
    """The same net, judged against one that names the smallest score."""
    assert onnx2mcu(*arguments(model=labelling)).code == 0
    stored = Project(tmp_path / "out").model_path
    net = onnx.load(stored)
    (argmax,) = (node for node in net.graph.node if node.op_type == "ArgMax")
    argmax.op_type = "ArgMin"
    onnx.save(net, stored)
    done = onnx2mcu("compare", tmp_path / "out", "--data", labelled, "--min-agreement", 0.9)
    assert done.code == 1
    assert "agreement" in done.err


def test_an_index_among_too_many_is_refused(onnx2mcu, tmp_path):
    weights = {"w": np.ones((1, 300), np.float32)}
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["m"], "scale"),
        helper.make_node("ArgMax", ["m"], ["label"], "pick", axis=1),
    ]
    path = tmp_path / "many.onnx"
    nets.save(path, nodes, {"x": (1, 300)}, {"label": None}, weights)
    net = onnx.load(path)
    net.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    onnx.save(net, path)
    done = onnx2mcu("inspect", path)
    assert "pick" in done.out + done.err
    assert "300 values" in done.out + done.err
