"""The Cortex-M4 cycle estimate: the class of single instructions, and branches."""

import numpy as np
import pytest

from tests.run import fake_model
from toolchain.errors import InputRefused
from toolchain.run import RunRequest, cycles
from toolchain.run.unicorn import Unicorn

pytest.importorskip("unicorn")
pytest.importorskip("capstone")

NOP, LDR, STR, MUL = "00bf", "0868", "0860", "4843"  # ldr r0, [r1]; str r0, [r1]; muls r0, r1
LDRD, SDIV, SMLAD = "d1e90023", "90fbf1f0", "20fb0103"  # ldrd r2, r3, [r1]; sdiv; smlad r3, r0, r1
PUSH, LDM, STM = "f0b5", "0ec8", "0ec0"  # push {r4-r7, lr}; ldm r0!, {r1-r3}; stm r0!, {r1-r3}
BRANCH = "fbd1"  # bne


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (NOP, 1),
        (LDR, 2),
        (LDR + LDR + LDR, 4),
        (LDR + NOP + LDR, 5),
        (STR + STR, 2),
        (LDRD, 3),
        (LDRD + LDRD, 6),
        (PUSH, 6),
        (LDM, 4),
        (STM, 4),
        (SDIV, 7),
        (SMLAD + MUL, 2),
        (NOP + BRANCH, 2),
    ],
)
def test_classes(code, expected):
    assert cycles.block_cycles(bytes.fromhex(code)) == expected


@pytest.mark.emulator
def test_firmware(built):
    """More than one cycle per instruction, less than the dearest mix; the same again."""
    board, result = built("nucleo-f446re")
    request = RunRequest(result.emulation, board, fake_model.MODEL, [bytes(range(16))])
    found = cycles.estimate_cycles(request)
    counted = Unicorn().run(request).instructions[0]
    assert found.shape == counted.shape
    assert (found > counted).all()
    assert (found < 3 * counted).all()
    np.testing.assert_array_equal(found, cycles.estimate_cycles(request))


@pytest.mark.emulator
def test_other_cores_are_refused(built):
    board, result = built("mps2-an385")
    request = RunRequest(result.emulation, board, fake_model.MODEL, [bytes(16)])
    with pytest.raises(InputRefused, match="cortex-m4"):
        cycles.estimate_cycles(request)
