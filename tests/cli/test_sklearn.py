"""scikit-learn's exports: Scaler in front, labels and a dictionary of scores at the end."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.cli import nets
from toolchain.project import Project

FEATURES = 5
ML = "ai.onnx.ml"


def pipeline_net(path, zipmap):
    """StandardScaler and MLPClassifier as skl2onnx writes them."""
    rng = np.random.default_rng(4)
    weights = {
        "coefficient": rng.standard_normal((FEATURES, nets.CLASSES)).astype(np.float32),
        "intercepts": rng.standard_normal((1, nets.CLASSES)).astype(np.float32),
        "classes": np.array([10, 20, 30], np.int64),
        "shape": np.array([-1], np.int64),
    }
    offset, scale = rng.standard_normal((2, FEATURES))
    node = helper.make_node
    nodes = [
        node("Scaler", ["X"], ["variable"], "Scaler", domain=ML, offset=offset, scale=scale),
        node("Cast", ["variable"], ["cast_input"], "Cast", to=TensorProto.FLOAT),
        node("MatMul", ["cast_input", "coefficient"], ["mul_result"], "MatMul"),
        node("Add", ["mul_result", "intercepts"], ["add_result"], "Add"),
        node("Softmax", ["add_result"], ["probabilities"], "Softmax"),
        node("ArgMax", ["probabilities"], ["argmax_output"], "ArgMax", axis=1),
        node("ArrayFeatureExtractor", ["classes", "argmax_output"], ["picked"], "AFE", domain=ML),
        node("Reshape", ["picked", "shape"], ["flat"], "Reshape"),
        node("Cast", ["flat"], ["output_label"], "Cast1", to=TensorProto.INT64),
    ]
    names = {"X": (None, FEATURES)}, {"output_label": (None,)}
    nets.save(path, nodes, *names, weights)
    model = onnx.load(path)
    model.opset_import.append(helper.make_opsetid(ML, 1))
    outputs = model.graph.output
    outputs[0].type.tensor_type.elem_type = TensorProto.INT64
    if zipmap:
        model.graph.node.append(
            node("ZipMap", ["probabilities"], ["output_probability"], "ZipMap", domain=ML,
                 classlabels_int64s=[10, 20, 30])
        )  # fmt: skip
        kind = helper.make_sequence_type_proto(
            helper.make_map_type_proto(
                TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, None)
            )
        )
        outputs.append(helper.make_value_info("output_probability", kind))
    else:
        shape = (None, nets.CLASSES)
        outputs.append(helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, shape))
    onnx.save(model, path)
    return path


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "table.npz"
    rows = rng.standard_normal((40, FEATURES)).astype(np.float32)
    np.savez(path, x=rows, y=rng.integers(0, nets.CLASSES, 40))
    return path


@pytest.fixture(params=[False, True], ids=["tensors", "zipmap"])
def exported(request, tmp_path):
    return pipeline_net(tmp_path / "mlp.onnx", request.param)


def test_labels_are_left_out_with_a_note_and_the_scores_are_kept(
    onnx2mcu, arguments, exported, table, tmp_path
):
    done = onnx2mcu(*arguments(model=exported, calib=table))
    assert (done.code, done.err) == (0, "")
    assert "output output_label holds no real values and is left out" in " ".join(done.out.split())
    manifest = Project(tmp_path / "out").manifest
    assert [port.name for port in manifest.firmware.outputs] == ["probabilities"]
    assert [layer.op for layer in manifest.layers] == ["FullyConnected", "Softmax"]


def test_the_scores_alone_when_asked(onnx2mcu, arguments, exported, table, tmp_path):
    last = onnx.load(exported).graph.output[-1].name
    done = onnx2mcu(*arguments(model=exported, calib=table, outputs=last))
    assert (done.code, done.err) == (0, "")
    assert "output_label" not in done.out
    manifest = Project(tmp_path / "out").manifest
    assert [port.name for port in manifest.firmware.outputs] == ["probabilities"]


def test_a_label_that_is_asked_for_is_refused_with_the_way_out(
    onnx2mcu, arguments, exported, table, tmp_path, untouched
):
    untouched |= {exported, table}
    done = onnx2mcu(*arguments(model=exported, calib=table, outputs="output_label"))
    done.refused("ArrayFeatureExtractor 'AFE'")


@pytest.mark.emulator
def test_the_firmware_agrees_with_onnx_runtime(onnx2mcu, arguments, exported, table, tmp_path):
    assert onnx2mcu(*arguments(model=exported, calib=table)).code == 0
    done = onnx2mcu("compare", tmp_path / "out", "--data", table, "--min-agreement", 0.9, "--json")
    assert (done.code, done.err) == (0, "")
    record = json.loads(done.out)
    assert record["bit_exact"] is True
    assert record["sqnr_db"] > 25
