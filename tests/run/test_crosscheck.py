"""Engines that disagree are named, with the place; QEMU and Unicorn agree on every core of both."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from toolchain import pipeline
from toolchain.errors import RunFailed
from toolchain.run import RunResult, require_agreement

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
BOARDS = {
    "M0+": "raspberry-pi-pico",
    "M3": "mps2-an385",
    "M4": "nucleo-f446re",
    "M7": "mps2-an500",
    "M33": "mps2-an505",
}
RESULT = RunResult("one", "core", [b"\x01\xff", b"\x02\x80"], "", np.array([[10, 20], [10, 21]]), 0)


def test_equal_runs_agree():
    require_agreement([RESULT, replace(RESULT, emulator="two")], ["a", "b"])


def test_a_different_byte_is_named():
    other = replace(RESULT, emulator="two", outputs=[b"\x01\xff", b"\x02\x7f"])
    with pytest.raises(RunFailed) as caught:
        require_agreement([RESULT, other], ["a", "b"])
    assert caught.value.where == "sample 1"
    assert caught.value.reason == "one and two give -128 and 127 in byte 1 of the outputs"


def test_a_different_count_is_named():
    other = replace(RESULT, emulator="two", instructions=np.array([[10, 20], [10, 22]]))
    with pytest.raises(RunFailed) as caught:
        require_agreement([RESULT, other], ["a", "b"])
    assert caught.value.where == "b"
    assert caught.value.reason == "one and two count 21 and 22 instructions in sample 1"


@pytest.mark.emulator
@pytest.mark.parametrize("core", BOARDS)
def test_qemu_and_unicorn_agree(core: str, tmp_path: Path):
    model, calibration = DIGITS / "model.onnx", DIGITS / "calibration.npz"
    pipeline.convert(model, calibration, BOARDS[core], tmp_path / "out")
    run = pipeline.emulate(tmp_path / "out", DIGITS / "test.npz", "all", max_samples=8)
    assert (run.emulator, run.agreeing) == ("qemu", ("unicorn",))


@pytest.mark.emulator
def test_one_engine_is_enough(tmp_path: Path):
    """Unicorn does not know the Cortex-M55; QEMU alone agrees with itself."""
    model, calibration = DIGITS / "model.onnx", DIGITS / "calibration.npz"
    pipeline.convert(model, calibration, "mps3-an547", tmp_path / "out")
    run = pipeline.emulate(tmp_path / "out", DIGITS / "test.npz", "all", max_samples=2)
    assert (run.emulator, run.agreeing) == ("qemu", ())
