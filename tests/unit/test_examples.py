"""The shipped examples are whole, small, and as good as their README says."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
DIGITS = EXAMPLES / "digits"
EMBED = EXAMPLES / "embed"

# What the generated header of the digits model offers, for compiling the embed example without it.
DIGITS_HEADER = """
#include <stdint.h>
#define DIGITS_ARENA_BYTES 4096
int8_t *digits_input_image(void);
const int8_t *digits_output_probabilities(void);
int32_t digits_run(void);
int8_t digits_quantize_input_image(float value);
float digits_dequantize_output_probabilities(int8_t code);
"""


@pytest.fixture(scope="module")
def session():
    return onnxruntime.InferenceSession(DIGITS / "model.onnx", providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def test_set():
    with np.load(DIGITS / "test.npz") as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def calibration():
    with np.load(DIGITS / "calibration.npz") as arrays:
        return dict(arrays)


def test_model_is_valid_with_a_symbolic_batch(session):
    model = onnx.load(DIGITS / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    (source,), (result,) = session.get_inputs(), session.get_outputs()
    assert source.shape == ["batch", 1, 8, 8]
    assert result.shape == ["batch", 10]


def test_model_exercises_the_rewrites_of_the_corridor():
    nodes = onnx.load(DIGITS / "model.onnx").graph.node
    kinds = {node.op_type for node in nodes}
    assert {"Conv", "BatchNormalization", "Relu", "Add", "GlobalAveragePool", "Gemm"} <= kinds
    assert any(
        attribute.name == "group" and attribute.i > 1
        for node in nodes
        for attribute in node.attribute
    )
    assert nodes[-1].op_type == "Softmax"


def test_arrays_fit_the_model(session, test_set, calibration):
    (source,) = session.get_inputs()
    assert set(calibration) == {source.name}
    assert set(test_set) == {source.name, "labels"}
    for images in (calibration[source.name], test_set[source.name]):
        assert images.dtype == np.float32
        assert list(images.shape[1:]) == source.shape[1:]
    assert len(calibration[source.name]) == 128
    assert test_set["labels"].shape == (len(test_set[source.name]),) == (540,)
    assert set(test_set["labels"].tolist()) == set(range(10))


def test_pixels_are_exact_sixteenths(test_set, calibration):
    for images in (calibration["image"], test_set["image"]):
        sixteenths = images * np.float32(16)
        assert np.array_equal(sixteenths, np.rint(sixteenths))
        assert images.min() == 0.0
        assert images.max() == 1.0


def test_calibration_holds_no_test_image(test_set, calibration):
    tested = {image.tobytes() for image in test_set["image"]}
    assert not any(image.tobytes() in tested for image in calibration["image"])


def test_float_accuracy_is_the_one_in_the_readme(session, test_set):
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    stated = re.search(r"Float accuracy on the test set.*?(\d+\.\d+) %", text, re.DOTALL)
    assert stated, "examples/README.md states no float accuracy"
    (probabilities,) = session.run(None, {"image": test_set["image"]})
    measured = 100 * np.mean(probabilities.argmax(axis=1) == test_set["labels"])
    assert f"{measured:.2f}" == stated[1]
    assert measured >= 98.0


def test_shipped_files_are_small():
    sizes = {path.name: path.stat().st_size for path in DIGITS.iterdir() if path.is_file()}
    assert {"model.onnx", "calibration.npz", "test.npz", "train.py"} <= set(sizes)
    assert max(sizes.values()) < 64 * 1024, sizes


@pytest.mark.parametrize("source", ["digit_reader.c", "main.c"])
def test_embed_example_compiles_without_a_warning(source, tmp_path):
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "digits.h").write_text(DIGITS_HEADER, encoding="utf-8")
    warnings = [
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wpedantic",
        "-Wconversion",
        "-Wundef",
        "-Wcast-qual",
    ]
    subprocess.run(
        [compiler, "-std=c11", *warnings, "-fsyntax-only", f"-I{tmp_path}", EMBED / source],
        check=True,
    )
