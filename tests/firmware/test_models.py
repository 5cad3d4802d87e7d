"""Real models on every core: the emulated firmware equals the integer model, byte for byte."""

from itertools import product
from pathlib import Path

import pytest

from tests.firmware.zoo import BOARDS, ZOO
from tests.suites import slow_unless
from toolchain import pipeline
from toolchain.ir import Family
from toolchain.options import ConvertOptions

pytestmark = [pytest.mark.emulator]

SAMPLES = 16
ARENAS = {"kws": (9_792, True), "ic": (18_464, False), "vww": (28_144, False), "ad": (768, True)}
"""Bytes with portable kernels, and whether none is smaller; tests/bench watches the fast ones."""


# M7 and M33 run the kernels of M4, on other QEMU machines: one net shows that they do. The large
# nets run on the other cores in test_golden and tests/bench, as reference int8 models.
LARGE = ("kws", "ic", "vww", "ad")


def _every_time(core: str, name: str) -> bool:
    return core == "M4" or (core == "M55" and name not in LARGE) or name == "digits"


@pytest.mark.parametrize(
    ("core", "name"),
    slow_unless(_every_time, product(BOARDS, ZOO)),
)
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
    # A block of layers that runs by rows is counted at its last layer.
    notes = converted.manifest.notes
    by_rows = any(" row by row in " in note or " in bands of " in note for note in notes)
    assert run.layers[-1][1] > 0
    assert by_rows or all(count > 0 for _, count in run.layers)
    assert 0 < run.stack_bytes < converted.manifest.stack_bytes
    # On M55 an output may have the choice between places, which is not searched exhaustively, and
    # of blocks that run by rows there are too many to try all.
    assert converted.manifest.arena_optimal or core == "M55" or by_rows


@pytest.mark.parametrize("name", ARENAS)
def test_arenas_of_portable_kernels(name: str, shared: Path, tmp_path: Path) -> None:
    model = ZOO[name]
    calibration, _ = model.write(shared, tmp_path, 1)
    options = ConvertOptions(kernels=Family.PORTABLE)
    project = tmp_path / "project"
    made = pipeline.convert(model.path(shared), calibration, BOARDS["M4"], project, options)
    assert (made.manifest.arena_bytes, made.manifest.arena_optimal) == ARENAS[name]
