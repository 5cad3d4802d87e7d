"""`export-qdq`: the file, what is printed, and what is refused."""

import json

import numpy as np
import onnx

from tests.cli.conftest import BOARD


def test_what_is_exported_converts_to_the_same_constants(onnx2mcu, project, tmp_path):
    path = tmp_path / "model.onnx"
    done = onnx2mcu("export-qdq", project, "-o", path, "--json")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert record["model"] == str(path)
    assert record["max_difference"] <= 1
    assert record["opset"] == onnx.load(path).opset_import[0].version == 13
    assert {layer["name"] for layer in record["layers"]}
    again = tmp_path / "again"
    options = ("--board", BOARD, "-o", again, "--prefix", "small", "--calibration", "auto")
    converted = onnx2mcu("convert", path, *options)
    assert converted.code == 0
    assert "nothing to choose, the model states scales and keeps them" in converted.out
    names = [p.name for p in sorted((project / "model").glob("constants.npz"))]
    with np.load(project / "model" / names[0]) as one, np.load(again / "model" / names[0]) as two:
        mine = sorted(one[k].tobytes() for k in one.files)
        theirs = sorted(two[k].tobytes() for k in two.files)
    assert mine == theirs


def test_the_table_names_the_layers(onnx2mcu, project, tmp_path):
    done = onnx2mcu("export-qdq", project, "-o", tmp_path / "deep" / "model.onnx")
    assert done.code == 0
    assert "largest difference" in done.out
    assert (tmp_path / "deep" / "model.onnx").exists()


def test_files_are_replaced_only_when_told(onnx2mcu, project, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"precious")
    onnx2mcu("export-qdq", project, "-o", path).refused("exists already", "--force")
    assert path.read_bytes() == b"precious"
    assert onnx2mcu("export-qdq", project, "-o", path, "--force").code == 0
    assert [p.name for p in tmp_path.iterdir()] == ["model.onnx"]


def test_what_cannot_be_written_or_read_is_refused(onnx2mcu, project, tmp_path):
    onnx2mcu("export-qdq", project, "-o", tmp_path).refused("is a folder")
    onnx2mcu("export-qdq", tmp_path, "-o", tmp_path / "x.onnx").refused("manifest.json")
    (tmp_path / "file").touch()
    onnx2mcu("export-qdq", project, "-o", tmp_path / "file" / "x.onnx").refused(
        "file is a file, not a folder"
    )
