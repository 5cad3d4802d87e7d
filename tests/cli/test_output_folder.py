"""What may become of an output folder: nothing of somebody else's is deleted, all can be built."""

import json
import os

import pytest

from toolchain.project.folder import BUILD, LATER


@pytest.fixture
def converted(onnx2mcu, arguments, tmp_path):
    assert onnx2mcu(*arguments()).code == 0
    return tmp_path / "out"


def test_force_replaces_what_the_commands_wrote(onnx2mcu, arguments, converted):
    (converted / BUILD / "CMakeFiles").mkdir(parents=True)
    (converted / BUILD / "CMakeFiles" / "log.txt").write_text("")
    for name in LATER:
        (converted / name).write_bytes(b"")
    assert onnx2mcu(*arguments(), "--force").code == 0
    assert not (converted / BUILD).exists()
    assert not any((converted / name).exists() for name in LATER)


def test_force_replaces_an_edited_project(onnx2mcu, arguments, converted):
    (converted / "small.h").write_text("mine")
    assert onnx2mcu(*arguments(), "--force").code == 0
    assert (converted / "small.h").read_text() != "mine"


@pytest.mark.parametrize("name", ["notes.txt", "src/app.c", "kernels/mine.c", ".git/config"])
def test_force_deletes_no_file_of_somebody_else(onnx2mcu, arguments, converted, name):
    path = converted / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("dear")
    before = {p: p.read_bytes() for p in converted.rglob("*") if p.is_file()}
    done = onnx2mcu(*arguments(), "--force")
    done.refused("did not write", name, "--force would delete")
    assert {p: p.read_bytes() for p in converted.rglob("*") if p.is_file()} == before


def test_force_deletes_no_link_of_somebody_else(onnx2mcu, arguments, converted, tmp_path):
    (converted / "data").symlink_to(tmp_path)
    onnx2mcu(*arguments(), "--force").refused("did not write", "data")
    assert (converted / "data").is_symlink()


def test_a_few_of_many_files_are_named(onnx2mcu, arguments, converted):
    for index in range(9):
        (converted / f"note{index}").write_text("")
    onnx2mcu(*arguments(), "--force").refused("note0, note1, note2, note3, note4 and 4 more")


@pytest.mark.parametrize("text", ['{"name": "app", "start_url": "/"}', '{"files": 3}', "[]", "?"])
def test_a_manifest_of_another_program_is_no_leave_to_delete(onnx2mcu, arguments, tmp_path, text):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "manifest.json").write_text(text)
    onnx2mcu(*arguments(), "--force").refused("did not write", "manifest.json")
    assert (folder / "manifest.json").read_text() == text


def test_a_project_of_an_older_version_can_be_replaced(onnx2mcu, arguments, converted):
    path = converted / "manifest.json"
    path.write_text(json.dumps({"files": json.loads(path.read_text())["files"], "tool": "0.0.1"}))
    onnx2mcu("build", converted).refused("not a manifest of this version")
    assert onnx2mcu(*arguments(), "--force").code == 0


@pytest.mark.parametrize("name", ["a$b", "a;b", 'a"b', "a\\b", "a|b", "a%b", "a,b", "a\nb"])
def test_folders_that_cannot_be_built_in_are_refused(
    onnx2mcu, arguments, tmp_path, untouched, name
):
    done = onnx2mcu(*arguments(output=tmp_path / name / "out"))
    done.refused("cannot be built", "choose a path")


@pytest.mark.emulator
def test_a_project_in_a_folder_of_an_odd_name_is_built(onnx2mcu, arguments, tmp_path):
    folder = tmp_path / "M\u00fcller & 'S\u00f6hne' (#1) [x]=y:z*" / "out"
    assert onnx2mcu(*arguments(output=folder)).code == 0
    assert onnx2mcu("build", folder).code == 0
    assert os.listdir(folder / BUILD)
