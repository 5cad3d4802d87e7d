"""A board of the user's own: known to every command after `convert`, also without its file."""

import json

import pytest

from tests.run import faults
from toolchain.board import list_boards
from toolchain.project import Project
from toolchain.resources import BOARDS

NAME = "my-own-board"


@pytest.fixture
def converted(onnx2mcu, arguments, tmp_path):
    text = (BOARDS / "nucleo-f446re.toml").read_text(encoding="utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(text.replace('"nucleo-f446re"', f'"{NAME}"', 1), encoding="utf-8")
    assert NAME not in list_boards()
    assert json.loads(onnx2mcu(*arguments(board=file), "--json").out)["board"] == NAME
    file.unlink()
    return tmp_path / "out"


@pytest.mark.emulator
def test_every_later_command_knows_it(onnx2mcu, converted, labelled):
    assert NAME in onnx2mcu("build", converted).out
    for command in (
        ("emulate", converted, "--emulator", "all"),
        ("profile", converted),
        ("profile", converted, "--against", converted),
        ("profile", converted, "--functions"),
        ("compare", converted, "--data", labelled),
    ):
        done = onnx2mcu(*command)
        assert done.code == 0, done.err


@pytest.mark.emulator
def test_run_takes_it(onnx2mcu, arguments, converted, labelled, tmp_path):
    file, output = tmp_path / "mine.toml", tmp_path / "other"
    text = (BOARDS / "microbit-v1.toml").read_text(encoding="utf-8")
    file.write_text(text.replace('"microbit-v1"', f'"{NAME}"', 1), encoding="utf-8")
    done = onnx2mcu(*arguments("run", board=file, output=output, data=labelled))
    assert done.code == 0, done.err
    assert NAME in (output / "report.html").read_text(encoding="utf-8")


@pytest.mark.emulator
def test_a_wrong_layer_is_set_apart_for_it(onnx2mcu, converted, labelled):
    faults.wrong_weight(Project(converted), layer=0)
    done = onnx2mcu("compare", converted, "--data", labelled)
    assert done.code == 1
    assert "reproduces it" in done.err
    assert Project(converted.with_name("out-first-difference")).manifest.board.name == NAME
