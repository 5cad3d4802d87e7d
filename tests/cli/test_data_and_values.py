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


# ---- what is wrong with data -------------------------------------------------------------------
IMAGES = nets.images(4)


def with_nan():
    changed = IMAGES.copy()
    changed[2, 0, 1, 1] = np.nan
    return changed


@pytest.mark.parametrize(
    ("arrays", "reason", "hint"),
    [
        ({"image": IMAGES[:, :, 1:]}, "input image takes [N, 1, 8, 8]", "first axis counts"),
        ({"other": IMAGES[:, :, 1:]}, "no array is named image or fits", "first axis counts"),
        ({"image": np.full((4, 1, 8, 8), "x")}, "not numbers", "a plain numeric array"),
        ({"image": with_nan()}, "sample 2 holds NaN", "leave such samples out"),
        ({"image": IMAGES[:0]}, "there are no samples", "[N, 1, 8, 8], N from 1"),
        (
            {"image": IMAGES, "labels": np.arange(3)},
            "labels must be 4 integers",
            "one class number",
        ),
    ],
)
def test_what_is_wrong_with_data_is_told_with_what_to_do(
    onnx2mcu, arguments, arrays, reason, hint, tmp_path
):
    onnx2mcu(*arguments(calib=save(tmp_path, **arrays))).refused(reason, hint)


def test_damaged_and_missing_data_are_told_with_what_to_do(onnx2mcu, arguments, calib, tmp_path):
    damaged = tmp_path / "half.npz"
    damaged.write_bytes(calib.read_bytes()[:-40])
    onnx2mcu(*arguments(calib=damaged)).refused("damaged", "save it again with numpy.savez")
    onnx2mcu(*arguments(calib=tmp_path / "none.npz")).refused("no such file", "one array per input")


def test_data_that_say_nothing_are_a_warning_and_a_choice_among_arrays_is_a_note(
    onnx2mcu, arguments, tmp_path
):
    data = save(tmp_path, x=np.zeros((4, 1, 8, 8)), other=IMAGES)
    done = onnx2mcu(*arguments(calib=data), "--json")
    record = json.loads(done.out)
    assert record["warnings"] == ["every value of every sample is 0"]
    assert [note for note in record["notes"] if "uses array x, not other" in note]


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
    done = onnx2mcu("compare", ".", "--data", "x", f"--{option}={value}")
    done.refused(f"--{option}", f"{value} is not a number to compute with")


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("min-agreement", "1.5", "1.5 is above 1"),
        ("min-agreement", "-0.1", "-0.1 is below 0"),
        ("max-drop", "-1", "-1 is below 0"),
        ("timeout", "0", "0 is below 0.01"),
    ],
)
def test_what_is_outside_of_its_range(onnx2mcu, option, value, told, untouched):
    onnx2mcu("compare", ".", "--data", "x", f"--{option}={value}").refused(f"--{option}", told)


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
