"""An estimate of Cortex-M4 cycles: executed instructions weighted by class, with Unicorn.

It is no measurement. The model knows zero wait states, no flash accelerator and no bus contention;
it was not compared with silicon. It serves to compare kernels whose mix of instructions differs.
"""

import importlib
import importlib.util
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.errors import InputRefused, RunFailed
from toolchain.run.elf import Elf
from toolchain.run.emulator import RunRequest
from toolchain.run.unicorn import Session, Unicorn

CORE = "cortex-m4"
REFILL = 2
"""Cycles to refill the pipeline after a taken branch: 1 to 3 in the Cortex-M4 Technical Reference
Manual (Arm 100166, table 3-1), by alignment and width of the target; 2 throughout here."""


@dataclass(frozen=True, slots=True)
class InstructionClass:
    """Cycles of a class of instructions.

    Args:
        pattern: Beginning of the mnemonic.
        cycles: Cycles of one.
        each: Cycles of every register of its list.
        paired: Cycles of one right behind another of the same class; None: no difference.
    """

    pattern: str
    cycles: int
    each: int = 0
    paired: int | None = None


# The first class whose pattern fits. Cycles of table 3-1 of the manual above; N registers count
# 1 + N; a load overlaps with the load before it ("Load/store timings", 3.3.3 of the same manual).
CLASSES = (
    InstructionClass(r"[su]div", 7),  # 2 to 12, by the operands
    InstructionClass(r"v(div|sqrt)", 14),
    InstructionClass(r"v(n?ml[as]|fn?m[as])", 3),
    InstructionClass(r"(ldr|str)d|v?(ldm|stm|push|pop)|v(ldr|str)", 1, each=1),
    InstructionClass(r"ldr", 2, paired=1),
    InstructionClass(r"", 1),  # also: stores (buffered), MUL, MLA, SMULL, SMLAD, SXTB16, IT
)
_REGISTER = re.compile(r"\b(?:r\d+|s[lbp]|fp|ip|lr|pc|[sd]\d+)\b")
_PAIRS = re.compile(r"(ldr|str)d|v(ldr|str)")


def missing() -> str | None:
    """Why cycles cannot be estimated here; None when they can."""
    if importlib.util.find_spec("capstone") is None:
        return "capstone is not installed: pip install capstone"
    return Unicorn().missing(CORE)


def estimate_cycles(request: RunRequest) -> NDArray[np.int64]:
    """Run a program and weigh what it executes.

    Args:
        request: The program (`BuildResult.emulation`) and its samples.

    Returns:
        Estimated cycles, int64 [samples, layers].

    Raises:
        InputRefused: The board has another core than Cortex-M4.
        RunFailed: The firmware failed, or a package is missing.
    """
    if request.board.cpu != CORE:
        raise InputRefused("cycles", request.board.cpu, f"the model is that of {CORE}")
    reason = missing()
    if reason:
        raise RunFailed("cycles", "", reason)
    elf = Elf(request.elf)
    elf.check_architecture(request.board)
    session = _Timed(elf, request)
    session.execute()
    return session.result().instructions


def block_cycles(code: bytes) -> tuple[int, int]:
    """(cycles of a block that falls through, cycles more when its end is a branch taken).

    Args:
        code: Thumb code without a branch but at its end.
    """
    capstone: Any = importlib.import_module("capstone")
    mode = capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
    total, before = 0, None
    decoder = capstone.Cs(capstone.CS_ARCH_ARM, mode)
    decoder.skipdata = True
    for _, _, mnemonic, operands in decoder.disasm_lite(code, 0):
        kind = next(c for c in CLASSES if re.match(c.pattern, mnemonic))
        if kind is before and kind.paired is not None:
            total += kind.paired
        else:
            total += kind.cycles + kind.each * _registers(mnemonic, operands)
        before = kind
    return total, REFILL


def _registers(mnemonic: str, operands: str) -> int:
    """Words that an instruction moves to or from memory."""
    pair = _PAIRS.match(mnemonic)
    if pair:
        return 1 if pair[2] and operands.startswith("s") else 2
    return len(_REGISTER.findall(operands.partition("{")[2]))


class _Timed(Session):
    """A boot that counts estimated cycles where its base counts instructions."""

    _end = 0
    _taken = 0

    def _block(self, _cpu: Any, address: int, size: int, _data: Any) -> None:
        if address != self._end:  # the block before did not fall through
            self.executed += self._taken
        key = (address, size)
        if key not in self.costs:
            self.costs[key] = block_cycles(bytes(self.cpu.mem_read(address, size)))
        cycles, self._taken = self.costs[key]
        self.executed += cycles
        self._end = address + size
