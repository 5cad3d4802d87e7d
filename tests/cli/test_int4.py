"""--int4: what is said of the layers, and what is refused."""

import json

import pytest

from toolchain.project import Project


def test_layers_bytes_and_loss_are_named(onnx2mcu, arguments, tmp_path):
    done = onnx2mcu(*arguments(int4="layer*"))
    assert (done.code, done.err) == (0, "")
    assert "note: int4 weights: layer0, " in done.out
    assert "bytes less; on held-back samples SQNR" in done.out
    line = arguments(int4="layer0", output=tmp_path / "one")
    record = json.loads(onnx2mcu(*line, "--json").out)
    layers = {layer["name"]: layer for layer in record["layers"]}
    first = layers.pop("layer0")
    assert (first["op"], first["weight_bits"]) == ("Int4Conv2D", 4)
    assert {layer["weight_bits"] for layer in layers.values()} <= {0, 8}
    written = {layer.name: layer for layer in Project(tmp_path / "one").manifest.layers}
    assert written["layer0"].weights_bytes == first["weights_bytes"] == 4 * 9 // 2 + 4 * 4


def test_as_many_as_the_gates_allow(onnx2mcu, arguments, tmp_path):
    easy = onnx2mcu(*arguments(int4="auto", min_sqnr=5))
    assert "int4 weights: layer0, layer" in easy.out
    hard = onnx2mcu(*arguments(int4="auto", min_sqnr=99, output=tmp_path / "hard"))
    assert (hard.code, hard.out) == (1, "")
    assert "SQNR" in hard.err


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"int4": "nothing*"}, ("nothing*", "names no layer")),
        ({"int4": "layer*", "int16": "layer0"}, ("layer0", "--int16 and --int4")),
        ({"int4": "layer0", "kernels": "cmsis-nn"}, ("int4", "cmsis-nn")),
    ],
    ids=str,
)
def test_refusals(onnx2mcu, arguments, untouched, options, parts):
    onnx2mcu(*arguments(**options)).refused(*parts)


def test_pure_int8_has_none(onnx2mcu, arguments, untouched):
    onnx2mcu(*arguments(int4="layer0"), "--pure-int8").refused("int4 weights")
