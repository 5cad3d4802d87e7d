"""Engines that disagree are named, with the place; QEMU and Unicorn agree on every core of both."""

import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tests.firmware.zoo import ZOO
from toolchain import pipeline
from toolchain.errors import RunFailed
from toolchain.options import ConvertOptions
from toolchain.plan import Ram
from toolchain.project import Project
from toolchain.report.table import profile_table
from toolchain.run import RunResult, require_agreement

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
BOARDS = {
    "M0": "microbit-v1",
    "M0+": "raspberry-pi-pico",
    "M3": "mps2-an385",
    "M4": "nucleo-f446re",
    "M7": "mps2-an500",
    "M33": "mps2-an505",
}
LARGE = ("large M0", "M3", "M4", "M7", "M33")
LARGE_M0 = """name = "large-m0"
description = "no part: a Cortex-M0 with more memory than there is"
cpu = "cortex-m0"
clock_hz = 16_000_000
memory = [
    { name = "flash", kind = "flash", origin = 0, bytes = 0x100000 },
    { name = "sram", kind = "ram", origin = 0x20000000, bytes = 0x40000 },
]
"""
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


def require_agreement_on(folder: Path, model: Path, calibration: Path, data: Path, core: str):
    """Convert, run on every engine, and require bytes and counts of two of them to be equal.

    The board with a Cortex-M0 has 16 KB of RAM: there networks run row by row.
    """
    options = ConvertOptions(ram=Ram.MIN if core == "M0" else Ram.AUTO)
    board = BOARDS.get(core, "")
    if core == "large M0":
        board = str(folder.with_name("large.toml"))
        Path(board).write_text(LARGE_M0, encoding="utf-8")
    pipeline.convert(model, calibration, board, folder, options)
    run = pipeline.emulate(folder, data, "all", max_samples=4)
    assert (run.emulator, run.agreeing) == ("qemu", ("unicorn",))


@pytest.mark.emulator
@pytest.mark.parametrize("core", BOARDS)
def test_qemu_and_unicorn_agree_on_digits(core: str, tmp_path: Path):
    model, calibration = DIGITS / "model.onnx", DIGITS / "calibration.npz"
    require_agreement_on(tmp_path / "out", model, calibration, DIGITS / "test.npz", core)


@pytest.mark.emulator
@pytest.mark.parametrize(
    ("name", "core"),
    [
        ("kws", "M4"),
        ("ad", "M4"),
        *(
            pytest.param(name, core, marks=pytest.mark.slow)
            for name in ("kws", "ad")
            for core in BOARDS
            if core != "M4"
        ),
        *(
            pytest.param(name, core, marks=pytest.mark.slow)
            for name, core in [
                ("ad", "large M0"),
                *(("ic", c) for c in LARGE),
                *(("vww", c) for c in LARGE),
            ]
        ),
    ],
)
def test_qemu_and_unicorn_agree_on_real_models(shared: Path, name: str, core: str, tmp_path: Path):
    """The models of MLPerf Tiny; three have weights that exceed the flash of the micro:bit."""
    calibration, data = ZOO[name].write(shared, tmp_path, 4)
    require_agreement_on(tmp_path / "out", ZOO[name].path(shared), calibration, data, core)


@pytest.mark.emulator
def test_a_thousand_inferences_in_one_boot_take_less_than_twenty_seconds(tmp_path: Path):
    model, calibration = DIGITS / "model.onnx", DIGITS / "calibration.npz"
    pipeline.convert(model, calibration, BOARDS["M4"], tmp_path / "out")
    with np.load(DIGITS / "test.npz") as stored:
        images = np.concatenate([stored[stored.files[0]]] * 10)[:1000]
        np.savez(tmp_path / "many.npz", **{stored.files[0]: images})
    pipeline.build(tmp_path / "out")
    started = time.monotonic()
    run = pipeline.emulate(tmp_path / "out", tmp_path / "many.npz", "qemu")
    assert run.samples == 1000
    assert time.monotonic() - started < 20


@pytest.mark.emulator
def test_one_engine_is_enough(tmp_path: Path):
    """Unicorn does not know the Cortex-M55; QEMU alone agrees with itself."""
    model, calibration = DIGITS / "model.onnx", DIGITS / "calibration.npz"
    pipeline.convert(model, calibration, "mps3-an547", tmp_path / "out")
    run = pipeline.emulate(tmp_path / "out", DIGITS / "test.npz", "all", max_samples=2)
    assert (run.emulator, run.agreeing) == ("qemu", ())
    assert "unicorn" in run.absent
    console = Console(width=200)
    with console.capture() as text:
        console.print(profile_table(Project(tmp_path / "out").manifest, run))
    assert re.search(r"not run here: .*unicorn: nothing to compare qemu with", text.get())
