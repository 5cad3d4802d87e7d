"""Every registered kernel in the emulator, to the byte as its operator says, canaries behind all.

As on the host: the registry says what there is to test.
"""

from itertools import product
from pathlib import Path

import pytest

from tests.firmware.test_operators import _compare
from tests.ops.test_single_rounding import REQUANTISING
from tests.sanitized.cases import batch, ways
from tests.suites import slow_unless
from toolchain.board import Isa, load_board
from toolchain.ir import Family, Rounding, Target

pytestmark = [pytest.mark.emulator]

BOARDS = {
    Isa.BASELINE: "raspberry-pi-pico",
    Isa.SCALAR: "mps2-an385",
    Isa.DSP: "mps2-an386",
    Isa.MVE: "mps3-an547",
}
LAYERS = 3


def _check(target: Target, folder: Path, rounding: Rounding = Rounding.DOUBLE) -> None:
    taken = ways(target, rounding)
    if rounding is Rounding.SINGLE:
        taken = [way for way in taken if way.operator in REQUANTISING]
    made = batch(taken, LAYERS, first=5000)
    graphs = [layer.graph for layer in made.layers]
    floats = [layer.floats for layer in made.layers]
    board = BOARDS[target.isa]
    assert load_board(board).isa is target.isa
    _compare(graphs, floats, board, folder, family=target.family, choices=made.choices)


def _every_time(_isa: Isa, form: str, rounding: Rounding) -> bool:
    """The host runs the C forms that round twice, with sanitizers."""
    return (form, rounding) != ("C", Rounding.DOUBLE)


@pytest.mark.parametrize(
    ("isa", "form", "rounding"),
    slow_unless(_every_time, product(Isa, ("assembly", "C"), Rounding)),
    ids=str,
)
def test_kernels_for_one_instruction_set(
    isa: Isa, form: str, rounding: Rounding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "C":
        monkeypatch.setenv("CFLAGS", "-DGLUE_NO_ASM")
        monkeypatch.setenv("ASMFLAGS", "-DGLUE_NO_ASM")
    _check(Target(isa), tmp_path / "project", rounding)


@pytest.mark.parametrize(
    ("isa", "rounding"),
    [*((isa, Rounding.DOUBLE) for isa in Isa), (Isa.SCALAR, Rounding.SINGLE)],
    ids=str,
)
def test_portable_kernels(isa: Isa, rounding: Rounding, tmp_path: Path) -> None:
    _check(Target(isa, Family.PORTABLE), tmp_path / "project", rounding)


def test_calls_of_arm_functions(tmp_path: Path) -> None:
    """With the ones of cmsis_glue in their place."""
    _check(Target(Isa.MVE, Family.CMSIS_NN), tmp_path / "project")
