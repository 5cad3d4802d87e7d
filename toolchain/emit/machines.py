"""The QEMU machines that stand in for the boards: memory map, timer, core.

A machine has its own addresses and far more memory than a small part. The emulated firmware is
linked to the machine's addresses but to the board's sizes, and the MPU is set to those sizes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from msgspec.structs import replace

from toolchain.board import Board, Memory
from toolchain.errors import InputRefused

ICOUNT_SHIFT = 7
"""QEMU's `-icount shift`: one instruction takes 2^7 ns of emulated time."""

HARNESS_BYTES = 512 * 1024
"""Memory of a harness: its tables and inputs that come row by row, outside the board's own RAM."""


@dataclass(frozen=True)
class Timer:
    """A free-running 32-bit counter and how to start it.

    Attributes:
        window: Base of the pages that must be accessible; one 4 KiB page each.
        setup: (address, value) pairs to write, in order.
        read: Address of the counter.
        invert: Whether it counts down.
        hz: Ticks per second of emulated time.
    """

    window: tuple[int, ...]
    setup: tuple[tuple[int, int], ...]
    read: int
    invert: bool
    hz: int

    @property
    def ticks_per_instruction(self) -> Fraction:
        """Exact ratio; above 2, so a difference of two readings tells the instruction count."""
        return Fraction(self.hz * 2**ICOUNT_SHIFT, 10**9)


@dataclass(frozen=True)
class Machine:
    """One QEMU machine.

    Attributes:
        name: Value of -M.
        core: Its core.
        mpu: Register layout of its MPU, "v7m" or "v8m".
        flash: Memory at the address the core boots from, used as flash.
        ram: Memory that plays the board's RAM.
        harness: Memory for the harness's tables.
        timer: Counter for the instruction counts.
        further: Memory that plays all other memories of the board.
        vector_table: Address of the vector table when it is not the start of the flash.
    """

    name: str
    core: str
    mpu: str
    flash: Memory
    ram: Memory
    harness: Memory
    timer: Timer
    further: Memory
    vector_table: int | None = None


def _cmsdk(base: int, hz: int) -> Timer:
    """Arm's CMSDK timer: CTRL, VALUE, RELOAD; counts down."""
    setup = ((base + 8, 0xFFFFFFFF), (base + 4, 0xFFFFFFFF), (base, 1))
    return Timer((base,), setup, base + 4, True, hz)


def _system_counter(control: int, status: int, hz: int) -> Timer:
    """The SSE-300 system counter: enabled in its control frame, read in its status frame."""
    return Timer((control, status), ((control, 1),), status, False, hz)


def _span(name: str, origin: int, size: int) -> Memory:
    return Memory(name, "flash" if name == "flash" else "ram", origin, size)


_MIB = 1 << 20
_MPS2_FLASH = _span("flash", 0x00000000, 4 * _MIB)
_MPS2_RAM = _span("ram", 0x20000000, 4 * _MIB)
_MPS2_PSRAM = _span("harness", 0x21000000, HARNESS_BYTES)
_MPS2_FURTHER = _span("further", 0x21800000, 8 * _MIB)
_MPS2_TIMER = _cmsdk(0x40000000, 25_000_000)

MACHINES: dict[str, Machine] = {
    machine.name: machine
    for machine in (
        *(
            Machine(
                name,
                core,
                "v7m",
                _MPS2_FLASH,
                _MPS2_RAM,
                _MPS2_PSRAM,
                _MPS2_TIMER,
                _MPS2_FURTHER,
            )
            for name, core in (("mps2-an385", "cortex-m3"), ("mps2-an386", "cortex-m4"))
        ),
        Machine(
            "mps2-an500",
            "cortex-m7",
            "v7m",
            _MPS2_FLASH,
            _MPS2_RAM,
            _span("harness", 0x60000000, HARNESS_BYTES),
            _MPS2_TIMER,
            _span("further", 0x60800000, 8 * _MIB),
        ),
        Machine(
            "mps2-an505",
            "cortex-m33",
            "v8m",
            _span("flash", 0x10000000, 4 * _MIB),
            _span("ram", 0x38000000, 4 * _MIB),
            _span("harness", 0x80000000, HARNESS_BYTES),
            _cmsdk(0x50000000, 20_000_000),
            _span("further", 0x80800000, 8 * _MIB),
        ),
        Machine(
            "mps3-an547",
            "cortex-m55",
            "v8m",
            _span("flash", 0x01000000, 2 * _MIB),
            _span("ram", 0x21000000, 4 * _MIB),
            _span("harness", 0x20000000, HARNESS_BYTES),
            _system_counter(0x58100000, 0x48101000, 32_000_000),
            _span("further", 0x60000000, 64 * _MIB),
            vector_table=0x00000000,
        ),
    )
}


def stand_ins(machine: Machine, memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Memories of a board at the addresses of a machine.

    Each gets an equal power of two of what the machine has, and begins at a multiple of that; a
    larger one is cut. So an MPU needs few regions for them.

    Args:
        machine: The machine.
        memories: What every program has is not among them.
    """
    slot = machine.further.bytes >> max(len(memories) - 1, 0).bit_length()
    return tuple(
        replace(memory, origin=machine.further.origin + i * slot, bytes=min(memory.bytes, slot))
        for i, memory in enumerate(memories)
    )


_BY_CPU = {
    "cortex-m0": "mps2-an385",
    "cortex-m0plus": "mps2-an385",
    "cortex-m3": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m7": "mps2-an500",
    "cortex-m33": "mps2-an505",
    "cortex-m55": "mps3-an547",
}


def machine_for(board: Board) -> Machine:
    """The machine that runs a board's firmware.

    Code for Cortex-M0 and M0+ runs on a Cortex-M3 machine: a superset of the instructions, with an
    MPU and enough memory. That it holds no other instruction is checked on the ELF file.

    Raises:
        InputRefused: The board names a machine that is not in the table.
    """
    name = board.qemu.machine or _BY_CPU[board.cpu]
    if name not in MACHINES:
        raise InputRefused(
            "board",
            board.name,
            f"unknown QEMU machine {name} - at `$.qemu.machine`",
            f"known: {', '.join(MACHINES)}",
        )
    return MACHINES[name]
