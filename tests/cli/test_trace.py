"""A layer that goes wrong in the firmware is found: sample, layer, index and both values."""

import json
import re

import pytest

from tests.run import faults
from toolchain.project import Project

pytestmark = pytest.mark.emulator


@pytest.mark.parametrize("flag", ["--json", ""])
def test_the_first_wrong_value_is_named(onnx2mcu, arguments, labelled, tmp_path, flag):
    assert onnx2mcu(*arguments()).code == 0
    project = Project(tmp_path / "out")
    manifest = project.manifest
    offset, _ = manifest.firmware.layers[1].outputs[0]
    source = project.directory / f"{manifest.prefix}.c"
    call = re.compile(r"status = layer_01_\w+\(\);")
    broken, count = call.subn(
        rf"\g<0> {manifest.prefix}_arena[{offset + 3}] ^= 64;", source.read_text()
    )
    assert count == 1
    source.write_text(broken)
    done = onnx2mcu(*["compare", project.directory, "--data", labelled], *([flag] if flag else []))
    assert done.code == 1
    message = json.loads(done.out)["reasons"][0] if flag else done.err
    layer = re.escape(manifest.layers[1].name)
    found = re.search(
        rf"first difference: sample 0, layer {layer}, [^ ]+\[0, 0, 0, 3\]: "
        r"firmware (-?\d+), integer model (-?\d+); 1 wrong in that layer",
        message,
    )
    assert found is not None, message
    assert int(found[1]) ^ int(found[2]) in (64, -64)
    # The kernel is right: the layer by itself says so.
    assert (
        f"{project.directory}-first-difference holds that layer alone, where it is right" in message
    )
    assert onnx2mcu("emulate", f"{project.directory}-first-difference").code == 0


@pytest.mark.parametrize("engine", ["qemu", "unicorn"])
def test_a_wrong_weight_is_set_apart(onnx2mcu, arguments, labelled, tmp_path, engine):
    assert onnx2mcu(*arguments()).code == 0
    faults.wrong_weight(Project(tmp_path / "out"), layer=0)
    apart = tmp_path / "out-first-difference"
    for _ in range(2):  # the second time it takes the place of the first
        done = onnx2mcu("compare", tmp_path / "out", "--data", labelled, "--emulator", engine)
        assert done.code == 1
        assert f"{apart} holds that layer alone and reproduces it" in done.err
    found = re.search(r"(\S+\[[\d, ]+\]): (firmware -?\d+, integer model -?\d+);", done.err)
    assert found is not None
    layer = Project(tmp_path / "out").manifest.layers[0].name
    (alone,) = Project(apart).manifest.layers
    assert alone.name == layer
    once = onnx2mcu("emulate", apart, "--emulator", engine)
    once.refused(layer, f"{found[1]} of sample 0: {found[2]};", "report it", code=1)
    assert onnx2mcu("build", apart).code == 0
    assert onnx2mcu("profile", apart, "--emulator", engine).code == 1


def test_a_folder_in_use_is_left_alone(onnx2mcu, arguments, labelled, tmp_path):
    assert onnx2mcu(*arguments()).code == 0
    faults.wrong_weight(Project(tmp_path / "out"), layer=0)
    mine = tmp_path / "out-first-difference" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    done = onnx2mcu("compare", tmp_path / "out", "--data", labelled)
    assert done.code == 1
    assert "first difference: sample 0" in done.err
    assert "the layer was not set apart: the output folder is in use" in done.err
    assert mine.read_text() == "mine"
