"""A layer that goes wrong in the firmware is found: sample, layer, index and both values."""

import json
import re

import pytest

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
