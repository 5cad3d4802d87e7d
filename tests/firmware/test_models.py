"""Real models on every core: the emulated firmware equals the integer model, byte for byte."""

from pathlib import Path

import pytest

from tests.firmware.zoo import BOARDS, ZOO
from toolchain import pipeline

pytestmark = [pytest.mark.emulator]

SAMPLES = 16
ARENAS = {"kws": 16_000, "ic": 49_152, "vww": 55_296, "ad": 768}


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("core", BOARDS)
def test_firmware_equals_the_integer_model(
    name: str, core: str, shared: Path, tmp_path: Path
) -> None:
    model = ZOO[name]
    calibration, test = model.write(shared, tmp_path, SAMPLES)
    project = tmp_path / "project"
    converted = pipeline.convert(model.path(shared), calibration, BOARDS[core], project)
    evaluation, run = pipeline.compare(project, test, emulator="qemu")
    assert run.samples == SAMPLES
    assert evaluation.comparison.bit_exact is True
    assert all(count > 0 for _, count in run.layers)
    assert 0 < run.stack_bytes < converted.manifest.stack_bytes
    assert converted.manifest.arena_optimal
    assert converted.manifest.arena_bytes == ARENAS.get(name, converted.manifest.arena_bytes)
