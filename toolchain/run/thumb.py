"""Thumb instructions, as far as one must know them to see what a core lacks and who calls whom.

Encodings: Armv6-M, Armv7-M and Armv8-M Architecture Reference Manuals (Arm DDI 0419, 0403, 0553).
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class Feature(StrEnum):
    """What a core must have to execute an instruction."""

    BASE = "Armv6-M"
    MAIN = "Armv7-M"
    DSP = "DSP extension"
    FLOAT = "floating point unit"
    DOUBLE = "double precision floating point unit"
    MVE = "Armv8.1-M: MVE or low-overhead loops"


class Instruction(NamedTuple):
    """One instruction: its address and its one or two halfwords; `second` is -1 for short ones."""

    address: int
    first: int
    second: int

    @property
    def bytes(self) -> int:
        """Length."""
        return 2 if self.second < 0 else 4


def decode(code: bytes, address: int) -> Iterator[Instruction]:
    """Instructions of a run of code; 0b11101, 0b11110 and 0b11111 begin a long one.

    Args:
        code: Instructions without data between them.
        address: Of the first.
    """
    position = 0
    while position + 1 < len(code):
        first = code[position] | code[position + 1] << 8
        second = -1
        if first >> 11 in (0x1D, 0x1E, 0x1F) and position + 3 < len(code):
            second = code[position + 2] | code[position + 3] << 8
        yield Instruction(address + position, first, second)
        position += 2 if second < 0 else 4


def feature(word: Instruction) -> Feature:
    """What the core must have for an instruction."""
    first, second = word.first, word.second
    if second < 0:
        compare_branch = first & 0xF500 == 0xB100  # CBZ, CBNZ
        if_then = first & 0xFF00 == 0xBF00 and first & 0xF
        return Feature.MAIN if compare_branch or if_then else Feature.BASE
    if first & 0xEC00 == 0xEC00:
        return _coprocessor(first, second)
    if first & 0xF800 == 0xF000 and second & 0x8000:
        return _branch_or_system(first, second)
    if first & 0xFFF0 == 0xEA50 and second & 0x8000:
        return Feature.MVE  # CSEL, CSINC and the like
    return Feature.DSP if _is_dsp(first, second) else Feature.MAIN


def _coprocessor(first: int, second: int) -> Feature:
    """Floating point and MVE share the coprocessors' space."""
    unit = second >> 8 & 0xF
    if first & 0xEF00 == 0xEF00 or unit in (8, 9, 14, 15):
        return Feature.MVE
    widens = first & 0xFFBF == 0xEEB7 and second & 0x0FD0 == 0x0AC0  # VCVT.F64.F32
    if widens or (unit == 11 and first & 0xFF00 == 0xEE00 and not second & 0x10):
        return Feature.DOUBLE
    return Feature.FLOAT


def _branch_or_system(first: int, second: int) -> Feature:
    kind = second & 0xD000
    if kind == 0xC000:
        return Feature.MVE  # loops, VCTP
    link = kind == 0xD000
    barrier = first == 0xF3BF
    move = first & 0xFFE0 == 0xF380 and kind == 0x8000  # MSR
    move_from = first & 0xFFE0 == 0xF3E0 and kind == 0x8000  # MRS
    undefined = first & 0xFFF0 == 0xF7F0 and second & 0xF000 == 0xA000
    simple = link or barrier or move or move_from or undefined
    return Feature.BASE if simple else Feature.MAIN


def _is_dsp(first: int, second: int) -> bool:
    group, kind = first & 0xFF80, first >> 4 & 7
    if first & 0xFFE0 == 0xEAC0:  # PKHBT, PKHTB
        return True
    if first & 0xFF70 == 0xF320:  # SSAT16, USAT16: SSAT and USAT with a shift of 0
        return second & 0x70C0 == 0
    if group == 0xFA80:  # parallel arithmetic; QADD and SEL, but REV and CLZ are Armv7-M
        return not second & 0x80 or kind & 1 == 0
    if group == 0xFA00 and second & 0x80:  # SXTB16, and the extensions that add
        return kind in (2, 3) or first & 0xF != 0xF
    if group == 0xFB00:  # all but MUL, MLA, MLS
        return kind != 0
    if group == 0xFB80:  # SMLALxy, SMLALD, SMLSLD, UMAAL
        return kind == 5 or (kind in (4, 6) and bool(second & 0xF0))
    return False


def is_float_arithmetic(word: Instruction) -> bool:
    """Whether it computes with scalar floating point values; moving them is no arithmetic."""
    first, second = word.first, word.second
    if second < 0 or second & 0x0E00 != 0x0A00:
        return False
    if first & 0xFF00 == 0xFE00:
        return True
    copies = first & 0xFFB0 == 0xEEB0 and (second & 0xF0 == 0 or (
        first & 0xF == 0 and second & 0xD0 == 0x40
    ))  # fmt: skip
    return first & 0xFF00 == 0xEE00 and not second & 0x10 and not copies


def branch_target(word: Instruction) -> tuple[int, bool] | None:
    """(address, whether it is a call) of a direct branch; None for everything else."""
    pc, first, second = word.address + 4, word.first, word.second
    if second < 0:
        if first & 0xF800 == 0xE000:
            return pc + _signed(first & 0x7FF, 11) * 2, False
        if first & 0xF000 == 0xD000 and first >> 8 & 0xF < 0xE:
            return pc + _signed(first & 0xFF, 8) * 2, False
        return None
    if first & 0xF800 != 0xF000 or not second & 0x8000:
        return None
    sign, one, two = first >> 10 & 1, second >> 13 & 1, second >> 11 & 1
    if second & 0x1000:  # BL and B
        high = sign << 23 | (one ^ sign ^ 1) << 22 | (two ^ sign ^ 1) << 21
        offset = high | (first & 0x3FF) << 11 | second & 0x7FF
        return pc + _signed(offset, 24) * 2, bool(second & 0x4000)
    if second & 0x4000 or first >> 7 & 7 == 7:
        return None
    offset = sign << 19 | two << 18 | one << 17 | (first & 0x3F) << 11 | second & 0x7FF
    return pc + _signed(offset, 20) * 2, False


def is_pointer_call(word: Instruction) -> bool:
    """BLX with a register, or BX with one that is not the return address."""
    register = word.first >> 3 & 0xF
    call = word.first & 0xFF87 == 0x4780
    return word.second < 0 and (call or (word.first & 0xFF87 == 0x4700 and register != 14))


def wide_move(word: Instruction) -> tuple[str, int, int] | None:
    """("w" or "t", register, value) of MOVW or MOVT; None for everything else."""
    first, second = word.first, word.second
    if second < 0 or second & 0x8000 or first & 0xFB70 != 0xF240:
        return None
    value = (first & 0xF) << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xFF
    return "t" if first & 0x80 else "w", second >> 8 & 0xF, value


def stack_taken(word: Instruction) -> int:
    """Bytes by which an instruction lowers the stack pointer; 0 when it does not."""
    first, second = word.first, word.second
    if second < 0:
        if first & 0xFE00 == 0xB400:  # PUSH
            return 4 * (first & 0x1FF).bit_count()
        return (first & 0x7F) * 4 if first & 0xFF80 == 0xB080 else 0  # SUB SP
    if first == 0xE92D:  # PUSH.W
        return 4 * second.bit_count()
    if first == 0xF84D and second & 0x0F00 == 0x0D00:  # STR [SP, #-n]!
        return second & 0xFF
    if first & 0xFFBF == 0xED2D:  # VPUSH
        return 4 * (second & 0xFF)
    if first & 0xFBFF in (0xF1AD, 0xF2AD) and second & 0x8F00 == 0x0D00:  # SUB.W SP
        number = (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xFF
        return number if first & 0x0200 else _expanded(number)
    return 0


def _expanded(number: int) -> int:
    """ThumbExpandImm of a 12-bit number."""
    low = number & 0xFF
    if number >> 10:
        rotation, value = number >> 7, 0x80 | number & 0x7F
        return (value >> rotation | value << (32 - rotation)) & 0xFFFFFFFF
    return (low, low * 0x00010001, low * 0x01000100, low * 0x01010101)[number >> 8]


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value
