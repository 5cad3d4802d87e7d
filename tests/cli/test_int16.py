"""--int16: what is said of the layers, named or found, and of settings that choose nothing."""

import json
import re

import pytest

GAIN = r"on held-back samples SQNR [\d.]+ dB, agreement [\d.]+%"


def notes(done) -> list[str]:
    assert (done.code, done.err) == (0, ""), done
    return json.loads(done.out)["notes"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("layer0",), rf"int16 codes: layer0; {GAIN}, with int8 codes SQNR .*"),
        (("auto",), rf"int16 auto: no layer needs it; {GAIN}"),
        (
            ("layer0", "auto"),
            r"int16 codes: layer0; int16 auto: no further layer needs it; "
            rf"{GAIN}, with int8 codes SQNR .*",
        ),
    ],
)
def test_layers_named_and_found_are_told_with_what_they_gain(onnx2mcu, arguments, asked, told):
    options = [text for name in asked for text in ("--int16", name)]
    line = arguments(min_sqnr=10)
    (note,) = (n for n in notes(onnx2mcu(*line, *options, "--json")) if "int16" in n)
    assert re.fullmatch(told, note)


def test_layers_that_were_found_are_told_with_what_they_gain(onnx2mcu, arguments):
    line = arguments(int16="auto", min_sqnr=50)
    (note,) = (n for n in notes(onnx2mcu(*line, "--json")) if "int16" in n)
    assert re.fullmatch(rf"int16 auto: (layer\d(, )?)+; {GAIN}, with int8 codes SQNR .*", note)


def test_data_that_choose_nothing_are_told(onnx2mcu, arguments, project, tmp_path):
    path = tmp_path / "quantised.onnx"
    assert onnx2mcu("export-qdq", project, "-o", path).code == 0
    told = "nothing to choose, the model states scales and keeps them"

    def idle(*options: str, **changes: object) -> list[str]:
        line = arguments(model=path, **changes)
        found = notes(onnx2mcu(*line, *options, "--force", "--json"))
        return [note.removesuffix(f": {told}") for note in found if told in note]

    assert idle() == ["--calib"]
    assert idle(calibration="auto") == ["--calib, --calibration auto and --weights auto"]
    assert idle(calib=None) == []
    assert idle(min_sqnr=1) == []  # there they are judged with
