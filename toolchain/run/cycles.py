"""An estimate of Cortex-M4 cycles: executed blocks weighted by class.

It is no measurement. The model knows zero wait states, no flash accelerator and no bus contention;
it was not compared with silicon. It serves to compare kernels whose mix of instructions differs.
"""

import importlib
import importlib.util
import re
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolchain.errors import InputRefused, RunFailed
from toolchain.run.elf import Elf
from toolchain.run.emulator import RunRequest
from toolchain.run.function_counts import phase_number
from toolchain.run.functions import Counted, count_blocks, uncountable
from toolchain.run.owners import phase_of
from toolchain.run.thumb import decode

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
    return uncountable(CORE)


def estimate_cycles(request: RunRequest) -> NDArray[np.int64]:
    """Run a program and weigh what it executes.

    Args:
        request: The program (`BuildResult.emulation`) and its samples; the first one is run.

    Returns:
        Estimated cycles, int64 [layers].

    Raises:
        InputRefused: The board has another core than Cortex-M4.
        RunFailed: The firmware failed, or a package is missing.
    """
    if request.board.cpu != CORE:
        hint = f"name a board with {CORE}"
        raise InputRefused("cycles", request.board.cpu, f"the model is that of {CORE}", hint)
    reason = missing()
    if reason:
        raise RunFailed("cycles", "", reason)
    return layer_cycles(count_blocks(request))


def layer_cycles(counted: Counted) -> NDArray[np.int64]:
    """The estimate from counts of blocks, int64 [layers]; each row counts at its own layer.

    It depends on the path through the program alone, not on where an emulator cuts its blocks.

    Args:
        counted: What was executed.
    """
    spans: dict[tuple[int, int], _Span] = {}

    def span(address: int, count: int) -> _Span:
        key = address, count
        if key not in spans:
            spans[key] = _span(counted.elf, address, count)
        return spans[key]

    phases = np.zeros(phase_number(counted.request), np.int64)
    for block in counted.blocks:
        here, before = span(block.address, block.instructions), span(*block.before)
        cycles = here.cycles
        if before.end != block.address:
            cycles += REFILL
        elif before.last is here.first and here.first is not None:
            cycles += (here.first.paired or 0) - here.first.cycles
        phases[block.phase] += cycles * block.times
    layers: NDArray[np.int64] = phases[phase_of(0) : -1] - phases[1]
    return layers


class _Span(NamedTuple):
    """A run of instructions.

    Args:
        end: Address behind it.
        cycles: Cycles without what follows from the way it is reached.
        first: Class of its first instruction, if two in a row take less.
        last: The same of its last one.
    """

    end: int
    cycles: int
    first: InstructionClass | None
    last: InstructionClass | None


def _span(elf: Elf, address: int, count: int) -> _Span:
    if count == 0:  # what came before the boot
        return _Span(address, 0, None, None)
    words = islice(decode(elf.read(address, 4 * count), address), count)
    size = sum(word.bytes for word in words)
    cycles, kinds = _weighed(elf.read(address, size))
    first, last = (kind if kind.paired is not None else None for kind in (kinds[0], kinds[-1]))
    return _Span(address + size, cycles, first, last)


def block_cycles(code: bytes) -> int:
    """Cycles of a block that is reached by no branch.

    Args:
        code: Thumb code without a branch but at its end.
    """
    return _weighed(code)[0]


def _weighed(code: bytes) -> tuple[int, list[InstructionClass]]:
    """Cycles of a run of instructions, and the class of each."""
    capstone: Any = importlib.import_module("capstone")
    mode = capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
    total, kinds = 0, list[InstructionClass]()
    decoder = capstone.Cs(capstone.CS_ARCH_ARM, mode)
    decoder.skipdata = True
    for _, _, mnemonic, operands in decoder.disasm_lite(code, 0):
        kind = next(c for c in CLASSES if re.match(c.pattern, mnemonic))
        if kinds and kind is kinds[-1] and kind.paired is not None:
            total += kind.paired
        else:
            total += kind.cycles + kind.each * _registers(mnemonic, operands)
        kinds.append(kind)
    return total, kinds


def _registers(mnemonic: str, operands: str) -> int:
    """Words that an instruction moves to or from memory."""
    pair = _PAIRS.match(mnemonic)
    if pair:
        return 1 if pair[2] and operands.startswith("s") else 2
    return len(_REGISTER.findall(operands.partition("{")[2]))
