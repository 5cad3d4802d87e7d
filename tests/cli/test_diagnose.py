"""`diagnose`: what is printed, sorted and refused."""

import json

import numpy as np
import pytest

from toolchain.check.evaluate import input_codes
from toolchain.ir.execute import simulate
from toolchain.pipeline.samples import load_data
from toolchain.project import Project
from toolchain.report.diagnoses import Sort


@pytest.fixture
def diagnose(onnx2mcu, model, calib, labelled):
    def run(*options):
        return onnx2mcu("diagnose", model, "--calib", calib, "--data", labelled, *options)

    return run


def _record(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_every_layer_with_a_sentence(diagnose, project):
    seen = _record(diagnose("--json"))
    layers = {layer.name for layer in Project(project).manifest.layers}
    assert layers <= {layer["name"] for layer in seen["layers"]}
    assert seen["samples"] == 12
    assert sum(layer["share"] for layer in seen["layers"]) == pytest.approx(1)
    for layer in seen["layers"]:
        assert layer["advice"]
        assert layer["low"] <= layer["high"]
        assert 0 <= layer["clipping_rate"] <= 1
        assert len(layer["worst_channels"]) <= 3
    assert 0 <= seen["accuracy_int8"] <= 1
    assert seen["board"] is None
    assert seen["without"] is None


@pytest.mark.parametrize(
    ("sort", "key", "sign"),
    [
        (Sort.SHARE, "share", -1),
        (Sort.SQNR, "sqnr_db", 1),
        (Sort.OWN, "own_sqnr_db", 1),
        (Sort.OUTPUT, "output_sqnr_db", 1),
        (Sort.CLIPPED, "clipping_rate", -1),
    ],
)
def test_layers_are_sorted_as_asked(diagnose, sort, key, sign):
    layers = _record(diagnose("--json", "--sort", sort))["layers"]
    values = [sign * (np.inf if one[key] is None else one[key]) for one in layers]
    assert values == sorted(values)
    assert len(set(values)) > 1 or sort is Sort.CLIPPED


def test_the_table_is_in_that_order_too(diagnose):
    names = [one["name"] for one in _record(diagnose("--json", "--sort", "order"))["layers"]]
    out = diagnose("--sort", "order").out
    places = [out.index(f"\n{name}") for name in names]
    assert places == sorted(places)
    assert "outputs over 12 samples" in out
    assert "accuracy" in out


def test_samples_limits_the_data(diagnose):
    assert _record(diagnose("--json", "--samples", 5))["samples"] == 5


def test_excluded_layers_are_measured_as_exact(diagnose):
    seen = _record(diagnose("--json", "--exclude", "*"))
    assert seen["without"]["sqnr_db"] > seen["sqnr_db"]
    names = [one["name"] for one in seen["layers"] if one["op"] != "Input"]
    assert set(seen["without"]["layers"]) == set(names)
    one = _record(diagnose("--json", "--exclude", names[0]))
    assert one["without"]["layers"] == [names[0]]
    assert "exact: SQNR" in diagnose("--exclude", names[0]).out
    diagnose("--exclude", "nobody*").refused("nobody*", "names no layer", names[0])
    diagnose("--exclude", "").refused("the empty name: names no layer")


def test_a_project_gives_the_same_figures(diagnose, onnx2mcu, project, labelled):
    of_model = _record(diagnose("--json"))
    of_project = _record(onnx2mcu("diagnose", project, "--data", labelled, "--json"))
    for key in ("sqnr_db", "agreement", "accuracy_int8"):
        assert of_project[key] == pytest.approx(of_model[key])


def test_outputs_of_a_board(onnx2mcu, runnable, labelled, tmp_path):
    project = Project(runnable)
    graph = project.graph()
    samples = load_data(project, labelled, None, "test")
    (y,) = graph.outputs
    codes = np.concatenate([simulate(graph, input_codes(graph, s))[y] for s in samples])
    path = tmp_path / "board.npz"
    np.savez(path, **{y: codes})
    command = ["diagnose", runnable, "--data", labelled, "--outputs-of-board", path]
    assert _record(onnx2mcu(*command, "--json"))["board"]["equal"] is True
    codes[4, 1] += 1
    np.savez(path, **{y: codes})
    done = onnx2mcu(*command, "--json")
    assert done.code == 1
    assert "the board differs from the integer model: sample 4" in done.err
    board = json.loads(done.out)["board"]
    assert board["equal"] is False
    first = board["first_difference"]
    assert (first["sample"], first["index"], first["board"] - first["expected"]) == (4, [0, 1], 1)
    assert "first difference: sample 4" in onnx2mcu(*command).out


@pytest.mark.emulator
def test_the_emulator_stands_for_a_board(onnx2mcu, runnable, labelled):
    run = json.loads(onnx2mcu("emulate", runnable, "--data", labelled, "--json").out)
    command = ["diagnose", runnable, "--data", labelled, "--outputs-of-board", run["outputs"]]
    assert _record(onnx2mcu(*command, "--json"))["board"]["equal"] is True


def test_labels_that_are_no_classes_are_refused(onnx2mcu, runnable, labelled, tmp_path):
    with np.load(labelled) as data:
        np.savez(tmp_path / "bad.npz", **{**data, "labels": data["labels"] + 50})
    done = onnx2mcu("diagnose", runnable, "--data", tmp_path / "bad.npz")
    done.refused("label 5", "is none of the model's 3 classes")


def test_options_that_make_no_sense_are_refused(
    onnx2mcu, diagnose, project, calib, labelled, model
):
    diagnose("--outputs-of-board", labelled).refused("--outputs-of-board", "needs the project")
    onnx2mcu("diagnose", project, "--data", labelled, "--calib", calib).refused(
        "--calib", "quantised already"
    )
    onnx2mcu("diagnose", project, "--data", labelled, "--exclude", "*").refused("--exclude")
    onnx2mcu("diagnose", model, "--data", labelled).refused("--calib DATA")
