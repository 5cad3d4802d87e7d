"""What the harness printed, and a fault in words."""

import re
from dataclasses import dataclass

from toolchain.board import Board
from toolchain.errors import RunFailed
from toolchain.run.elf import Elf

_LINE = re.compile(r"^onnx2mcu (\w+) (.*)$", re.MULTILINE)
_EXCEPTIONS = {
    2: "NMI",
    3: "HardFault",
    4: "MemManage",
    5: "BusFault",
    6: "UsageFault",
    7: "SecureFault",
}
_STACKING = 1 << 4 | 1 << 12 | 1 << 20  # MSTKERR, STKERR, STKOF
_MMFAR_VALID = 1 << 7
_BFAR_VALID = 1 << 15
_CAUSES = (
    (1 << 0, "executed code in memory that is not executable"),
    (1 << 8, "fetched an instruction from where no memory is"),
    (1 << 10, "an access to where no memory is (reported late)"),
    (1 << 16, "undefined instruction"),
    (1 << 17, "jumped to an address without the Thumb bit"),
    (1 << 18, "corrupt exception return"),
    (1 << 19, "floating point or vector instruction while the unit is off or absent"),
    (1 << 24, "unaligned access"),
    (1 << 25, "division by zero"),
)
_ACCESS = 1 << 1 | 1 << 9  # DACCVIOL, PRECISERR


def values(console: str) -> dict[str, int]:
    """Numbers of the lines "onnx2mcu KEY 0xVALUE"; the last one of a key counts."""
    return {key: int(text, 16) for key, text in _LINE.findall(console) if text.startswith("0x")}


def last_line(console: str) -> str:
    """The last thing that was printed, quoted, or that there was nothing."""
    lines = [line for line in console.splitlines() if line.strip()]
    return f"last line seen: {lines[-1][:200]!r}" if lines else "nothing was printed"


@dataclass(frozen=True)
class Fault:
    """An exception of the core.

    Attributes:
        exception: Its number.
        cfsr: Configurable fault status register.
        address: Faulting data address, when the core knows it.
        pc: Faulting instruction, when it is known.
        near: A return address on an overflown stack.
    """

    exception: int
    cfsr: int = 0
    address: int | None = None
    pc: int | None = None
    near: int | None = None

    @classmethod
    def of(cls, found: dict[str, int]) -> "Fault | None":
        """The fault the harness reported, if it did."""
        if "fault" not in found:
            return None
        cfsr = found.get("cfsr", 0)
        address = None
        if cfsr & _MMFAR_VALID:
            address = found.get("mmfar")
        elif cfsr & _BFAR_VALID:
            address = found.get("bfar")
        return cls(found["fault"], cfsr, address, found.get("pc"), found.get("near"))


def explain(fault: Fault, elf: Elf, board: Board) -> RunFailed:
    """The fault as the error the user reads: where, what, and what to do."""
    name = _EXCEPTIONS.get(fault.exception, f"exception {fault.exception}")
    at = fault.pc if fault.pc is not None else fault.near
    where = _place(elf, at) if at is not None else "unknown place"
    details = f"{name}, CFSR 0x{fault.cfsr:08X}"
    if fault.pc is not None:
        details += f", PC 0x{fault.pc:08X}"
    what, hint = _cause(fault, elf, board)
    return RunFailed("emulate", where, f"{what} ({details})", hint)


def _place(elf: Elf, address: int) -> str:
    return elf.symbol_at(address & ~1) or f"0x{address:08X}"


def _cause(fault: Fault, elf: Elf, board: Board) -> tuple[str, str]:
    overflow = fault.cfsr & _STACKING or (fault.address is not None and _below(elf, fault.address))
    if overflow:
        size = elf.address("__stack_top") - elf.address("__stack_limit")
        return f"stack overflow: {size} bytes are not enough", "choose a larger --stack"
    if fault.cfsr & _ACCESS and fault.address is not None:
        return _access(fault.address, elf, board)
    for bit, text in _CAUSES:
        if fault.cfsr & bit:
            return text, ""
    return "the core stopped on an exception", ""


def _below(elf: Elf, address: int) -> bool:
    """Whether an address lies in the kilobytes under the stack."""
    limit = elf.address("__stack_limit")
    return limit - 4096 <= address < limit


def _access(address: int, elf: Elf, board: Board) -> tuple[str, str]:
    ram = elf.address("__stack_limit")
    if any(start <= address < start + len(data) for start, data in elf.segments):
        return f"wrote to flash at 0x{address:08X} ({_place(elf, address)})", "constants are fixed"
    if ram + board.ram.bytes <= address < ram + (64 << 20):
        past = address - ram - board.ram.bytes
        text = f"access to 0x{address:08X}, {past} bytes past the end of the board's RAM"
        return text, f"{board.name} has {board.ram.bytes} bytes of RAM"
    return f"access to 0x{address:08X}, where the firmware has no memory", ""
