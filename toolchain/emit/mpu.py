"""Register values of the Arm MPU for a set of exact address ranges."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolchain.board import Memory
from toolchain.emit.machines import Machine

_PAGE = 4096
_MIN_REGION = 256  # v7-M: smaller regions have no sub-regions; nothing here is that small
_SUBREGIONS = 8


@dataclass(frozen=True)
class Region:
    """One v7-M region: an aligned power of two with some of its eight parts switched off.

    Attributes:
        base: Start address, a multiple of `size`.
        size: Bytes, a power of two.
        disabled: Bit i set: part i (of size/8 bytes) does not belong to the region.
    """

    base: int
    size: int
    disabled: int

    @property
    def spans(self) -> list[tuple[int, int]]:
        """(start, end) of every enabled part, ascending."""
        part = self.size // _SUBREGIONS
        starts = (self.base + part * i for i in range(_SUBREGIONS) if not self.disabled >> i & 1)
        return [(start, start + part) for start in starts]


def decompose(origin: int, size: int) -> list[Region]:
    """Cover [origin, origin + size) exactly with v7-M regions, the longest step first.

    Args:
        origin: First address, a multiple of 32.
        size: Bytes, a positive multiple of 32.
    """
    end = origin + size
    regions = []
    while origin < end:
        region, origin = _longest(origin, end)
        regions.append(region)
    return regions


def _longest(origin: int, end: int) -> tuple[Region, int]:
    """The region that starts at `origin` and reaches furthest, and where it ends."""
    best: tuple[Region, int] | None = None
    for log in range(_MIN_REGION.bit_length() - 1, 33):
        block = 1 << log
        part = block // _SUBREGIONS
        base = origin & -block
        reach = min(base + block, end - (end - base) % part)
        if origin % part == 0 and reach > origin and (best is None or reach > best[1]):
            first, last = (origin - base) // part, (reach - base) // part
            enabled = (1 << last) - (1 << first)
            best = Region(base, block, enabled ^ (1 << _SUBREGIONS) - 1), reach
    if best is None:
        raise ValueError(f"0x{origin:x}..0x{end:x} is not aligned to {_MIN_REGION // _SUBREGIONS}")
    return best


def register_pairs(
    machine: Machine, ram_bytes: int, further: Sequence[Memory] = ()
) -> list[tuple[int, int]]:
    """Values for MPU_RBAR and, beside it, MPU_RASR (v7-M) or MPU_RLAR (v8-M).

    The flash is read-only and executable, the RAM (as much as the board has) and the harness's
    tables are read-write and never executable, the timer's pages are device memory. Nothing else
    may be touched: the background region stays off.

    Args:
        machine: Whose memory map.
        ram_bytes: RAM of the board.
        further: More memories, at the addresses of the machine.
    """
    use = {"flash": "code", "ram": "data"}
    ranges = [
        (machine.flash.origin, machine.flash.bytes, "code"),
        (machine.ram.origin, ram_bytes, "data"),
        (machine.harness.origin, machine.harness.bytes, "data"),
        *((page, _PAGE, "device") for page in machine.timer.window),
        *((memory.origin, memory.bytes, use[memory.kind]) for memory in further),
    ]
    if machine.mpu == "v8m":
        return [_v8m(*item) for item in ranges]
    return [
        _v7m(region, access) for start, size, access in ranges for region in decompose(start, size)
    ]


# v7-M RASR: XN bit 28, AP bits 24-26 (3 read-write, 6 read-only), C bit 17 (normal), B bit 16
# (device), SRD bits 8-15, SIZE bits 1-5, ENABLE bit 0.
_RASR = {
    "code": 6 << 24 | 1 << 17,
    "data": 1 << 28 | 3 << 24 | 1 << 17,
    "device": 1 << 28 | 3 << 24 | 1 << 16,
}


def _v7m(region: Region, use: str) -> tuple[int, int]:
    size = region.size.bit_length() - 2
    return region.base, _RASR[use] | region.disabled << 8 | size << 1 | 1


# v8-M RBAR: AP bits 1-2 (1 read-write, 3 read-only), XN bit 0. RLAR: attribute index bits 1-3,
# ENABLE bit 0; the harness puts normal memory in attribute 0 and device memory in attribute 1.
_RBAR = {"code": 3 << 1, "data": 1 << 1 | 1, "device": 1 << 1 | 1}
_RLAR = {"code": 0 << 1, "data": 0 << 1, "device": 1 << 1}


def _v8m(start: int, size: int, use: str) -> tuple[int, int]:
    return start | _RBAR[use], (start + size - 32) | _RLAR[use] | 1
