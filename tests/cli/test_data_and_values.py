"""Labels, codes and numbers that look right and are not; layers of one node."""

import json

import numpy as np
import pytest
from onnx import helper

from tests.cli import nets
from toolchain.project import Project


def save(folder, **arrays):
    np.savez(folder / "test.npz", **arrays)
    return folder / "test.npz"


# ---- labels ------------------------------------------------------------------------------------
@pytest.mark.emulator
@pytest.mark.parametrize("label", [nets.CLASSES, -1, 255])
def test_labels_outside_the_classes_are_refused(onnx2mcu, runnable, tmp_path, label):
    data = save(tmp_path, image=nets.images(4), labels=np.array([0, 1, label, 2]))
    done = onnx2mcu("compare", runnable, "--data", data)
    done.refused(f"label {label} of sample 2", "3 classes, 0 to 2", "from 0")


@pytest.mark.parametrize("label", [0.5, np.nan])
def test_labels_that_are_no_classes_are_refused(onnx2mcu, runnable, tmp_path, label):
    data = save(tmp_path, image=nets.images(3), labels=np.array([0, label, 1]))
    done = onnx2mcu("compare", runnable, "--data", data)
    done.refused("test.npz[labels]", f"found {label:g} at sample 1", "call targets")


def test_calibration_does_not_mind_them(onnx2mcu, arguments, tmp_path):
    data = save(tmp_path, image=nets.images(3), labels=np.array([0, 0.5, 1]))
    done = onnx2mcu(*arguments(calib=data))
    assert (done.code, done.err) == (0, "")
    assert "not class numbers" in done.out


@pytest.mark.emulator
@pytest.mark.parametrize("command", ["convert", "run", "compare", "search"])
def test_a_drop_without_labels_is_refused_before_anything_is_computed(
    onnx2mcu, arguments, runnable, calib, command, monkeypatch, tmp_path, untouched
):
    for place in ("conversion.quantise", "solving.quantise", "comparison.run_codes"):
        monkeypatch.setattr(f"toolchain.pipeline.{place}", None)
    line = {
        "convert": arguments(max_drop=1),
        "run": arguments("run", data=calib, max_drop=1),
        "compare": ["compare", runnable, "--data", calib, "--max-drop", 1],
        "search": arguments(max_drop=1, max_flash=100_000),
    }[command]
    onnx2mcu(*line).refused("--max-drop: the data have no labels", "array `labels`")


def test_a_gate_about_classes_needs_an_output_that_names_one(
    onnx2mcu, arguments, calib, monkeypatch, tmp_path, untouched
):
    monkeypatch.setattr("toolchain.pipeline.conversion.quantise", None)
    weights = {"w": np.full((1, 1, 1, 1), 0.5, np.float32)}
    nodes = [helper.make_node("Conv", ["image", "w"], ["image_out"], "conv")]
    path = tmp_path / "picture.onnx"
    shape = (1, 1, nets.SIDE, nets.SIDE)
    nets.save(path, nodes, {"image": shape}, {"image_out": shape}, weights)
    untouched |= {path}
    done = onnx2mcu(*arguments(model=path, min_agreement=0.5))
    done.refused("--min-agreement: no output names a class", "--min-sqnr")


# ---- codes -------------------------------------------------------------------------------------
@pytest.mark.emulator
def test_int8_data_for_a_float_model_bring_a_note(onnx2mcu, runnable, tmp_path):
    codes = np.random.default_rng(0).integers(-128, 128, (4, 1, nets.SIDE, nets.SIDE), np.int8)
    line = ["compare", runnable, "--data", save(tmp_path, image=codes)]
    done = onnx2mcu(*line)
    assert "note: the data are int8: taken as codes of the inputs" in done.out
    (note,) = json.loads(onnx2mcu(*line, "--json").out)["notes"]
    assert "int8" in note


@pytest.mark.emulator
def test_data_of_values_bring_none(onnx2mcu, runnable, labelled):
    record = json.loads(onnx2mcu("compare", runnable, "--data", labelled, "--json").out)
    assert record["notes"] == []


# ---- numbers -----------------------------------------------------------------------------------
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("option", ["timeout", "min-sqnr", "min-agreement", "max-drop"])
def test_what_is_not_a_number(onnx2mcu, option, value, untouched):
    onnx2mcu("compare", ".", "--data", "x", f"--{option}={value}").refused(f"--{option}")


@pytest.mark.parametrize("option", ["percentile", "pixel-scale", "min-sqnr"])
def test_what_is_not_a_number_for_convert(onnx2mcu, arguments, option, untouched):
    onnx2mcu(*arguments(), f"--{option}=nan").refused(f"--{option}", "nan")


@pytest.mark.parametrize("value", ["0", "-1"])
def test_pixels_of_no_scale(onnx2mcu, arguments, value, untouched):
    onnx2mcu(*arguments(), f"--pixel-scale={value}").refused("--pixel-scale", "is not above 0")


# ---- layers of one node ------------------------------------------------------------------------
@pytest.fixture
def split(tmp_path):
    """A softmax over another axis than the last becomes several layers."""
    nodes = [
        helper.make_node("Conv", ["image", "w"], ["c"], "conv", pads=[1] * 4),
        helper.make_node("Softmax", ["c"], ["y"], "soft", axis=2),
    ]
    weights = {"w": np.random.default_rng(0).standard_normal((4, 1, 3, 3)).astype(np.float32)}
    shape = (1, 4, nets.SIDE, nets.SIDE)
    inputs = {"image": (1, 1, nets.SIDE, nets.SIDE)}
    return nets.save(tmp_path / "split.onnx", nodes, inputs, {"y": shape}, weights)


NAMES = ["conv", "soft (Transpose)", "soft (Softmax)", "soft (Transpose 2)"]


def test_layers_have_names_of_their_own(onnx2mcu, arguments, split, tmp_path):
    done = onnx2mcu(*arguments(model=split), "--json")
    assert (done.code, done.err) == (0, "")
    assert [layer["name"] for layer in json.loads(done.out)["layers"]] == NAMES
    assert [layer.name for layer in Project(tmp_path / "out").manifest.firmware.layers] == NAMES
    seen = json.loads(onnx2mcu("inspect", split, "--json").out)
    assert [layer["name"] for layer in seen["layers"]] == NAMES


@pytest.mark.emulator
def test_every_layer_has_its_own_count_and_error(onnx2mcu, arguments, split, tmp_path):
    assert onnx2mcu(*arguments(model=split)).code == 0
    data = save(tmp_path, image=nets.images(3))
    record = json.loads(onnx2mcu("compare", tmp_path / "out", "--data", data, "--json").out)
    assert [layer["name"] for layer in record["layers"]] == NAMES
    conv, moved, soft, back = (layer["sqnr_db"] for layer in record["layers"])
    assert conv == pytest.approx(moved)
    assert soft == pytest.approx(back)
    assert conv != pytest.approx(soft)
