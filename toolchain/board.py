"""Boards: the facts of a target, read from one TOML file each."""

import difflib
import itertools
import re
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from toolchain import resources
from toolchain.errors import InputRefused

_STAGE = "board"
_EXAMPLES = "compare the file with those in boards/"
_GRAIN = 1024
"""Bytes every region is a multiple of: MPU regions and emulators need no finer grain."""

Cpu = Literal[
    "cortex-m0",
    "cortex-m0plus",
    "cortex-m3",
    "cortex-m4",
    "cortex-m7",
    "cortex-m33",
    "cortex-m55",
]
Fpu = Literal["fpv4-sp-d16", "fpv5-sp-d16", "fpv5-d16", "auto"]

_FPUS: dict[str, tuple[str, ...]] = {
    "cortex-m4": ("fpv4-sp-d16",),
    "cortex-m7": ("fpv5-sp-d16", "fpv5-d16"),
    "cortex-m33": ("fpv5-sp-d16",),
    "cortex-m55": ("auto",),
}
"""Units a core can have; a core that is not listed has none."""


class Isa(StrEnum):
    """Instruction set the kernels may use."""

    BASELINE = "baseline"
    """Armv6-M: no 64-bit product, no multiply-accumulate."""
    SCALAR = "scalar"
    """Armv7-M without SIMD."""
    DSP = "dsp"
    MVE = "mve"


_ISAS: dict[str, Isa] = {
    "cortex-m0": Isa.BASELINE,
    "cortex-m0plus": Isa.BASELINE,
    "cortex-m3": Isa.SCALAR,
    "cortex-m4": Isa.DSP,
    "cortex-m7": Isa.DSP,
    "cortex-m33": Isa.DSP,
    "cortex-m55": Isa.MVE,
}


class Memory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One contiguous memory of the part.

    Attributes:
        name: Name in the linker script and in reports.
        kind: "flash" (code, weights) or "ram".
        origin: First address.
        bytes: Size, in bytes.
        reserved: Bytes at the start that belong to a boot loader.
        external: It is outside the part, or needs the application's set-up for another reason: used
            only where it is named.
        speed_rank: Place in the order of access times, 0 the fastest; what is alike shares one.
    """

    name: str
    kind: Literal["flash", "ram"]
    origin: int
    bytes: int
    reserved: int = 0
    external: bool = False
    speed_rank: int = 0

    @property
    def free(self) -> int:
        """Bytes behind what is reserved."""
        return self.bytes - self.reserved

    @property
    def end(self) -> int:
        """First address behind the region."""
        return self.origin + self.bytes


class Uart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The serial port that reaches the user's computer.

    Attributes:
        name: Name in the part's manual.
        address: Base address of its registers.
    """

    name: str
    address: int


class Renode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What Renode is to model beyond core and memory.

    Attributes:
        uart: What stands behind "uart:" in the platform description (.repl): type, place and
            settings of the serial port, whose text is part of the console; "" without one.
        extra: More entries for the platform description.
    """

    uart: str = ""
    extra: str = ""


class Qemu(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Exceptions from the rule that the QEMU machine follows from the core.

    Attributes:
        machine: Name in `toolchain.run.machines`.
    """

    machine: str | None = None


class Probe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the board is written.

    Attributes:
        target: Target name of pyOCD.
    """

    target: str


class Power(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the part draws while it computes.

    Attributes:
        milliamperes: Supply current in run mode at the board's clock.
        volts: Supply voltage it was stated for.
        source: Document that states it, and the conditions.
    """

    milliamperes: float
    volts: float
    source: str

    @property
    def milliwatts(self) -> float:
        """Microjoules per millisecond, too."""
        return self.milliamperes * self.volts


class Board(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A target.

    Attributes:
        name: Name on the command line.
        description: One line: part, core, clock.
        cpu: Core, as gcc's -mcpu spells it.
        clock_hz: Clock of the core after the vendor's usual set-up, in Hz.
        memory: Every memory of the part that software may use.
        fpu: Floating point unit, as gcc's -mfpu spells it; None without one.
        vector_table: Address the core boots from, when that is not the start of the flash.
        boot_words: Words the boot ROM looks for behind the vector table.
        uart: Serial port, for the example's output.
        renode: Settings for Renode.
        qemu: Settings for QEMU.
        probe: Settings for the debug probe.
        power: What it draws; None where no document is known to state it.
    """

    name: str
    description: str
    cpu: Cpu
    clock_hz: int
    memory: tuple[Memory, ...]
    fpu: Fpu | None = None
    vector_table: int | None = None
    boot_words: tuple[int, ...] = ()
    uart: Uart | None = None
    renode: Renode = Renode()
    qemu: Qemu = Qemu()
    probe: Probe | None = None
    power: Power | None = None

    @property
    def isa(self) -> Isa:
        """Instruction set of the core."""
        return _ISAS[self.cpu]

    @property
    def alignment(self) -> int:
        """Bytes every tensor and weight array is aligned to."""
        return 16 if self.isa is Isa.MVE else 4

    @property
    def gcc_flags(self) -> tuple[str, ...]:
        """Flags that select the core for arm-none-eabi-gcc."""
        core = ("-mthumb", f"-mcpu={self.cpu}")
        if self.fpu is None:
            return (*core, "-mfloat-abi=soft")
        return (*core, f"-mfpu={self.fpu}", "-mfloat-abi=hard")

    @property
    def flash(self) -> Memory:
        """The largest flash inside, without what a boot loader occupies: for code and weights."""
        return self._largest("flash")

    @property
    def ram(self) -> Memory:
        """The largest contiguous RAM inside: arena, stack and data go there."""
        return self._largest("ram")

    def _largest(self, kind: str) -> Memory:
        inside = (m for m in self.memory if m.kind == kind and not m.external)
        return _usable(max(inside, key=lambda m: m.free))

    def usable(self, name: str) -> Memory:
        """A memory of the board by its name, without what is reserved in it."""
        return next(_usable(m) for m in self.memory if m.name == name)


def _usable(memory: Memory) -> Memory:
    origin = memory.origin + memory.reserved
    return msgspec.structs.replace(memory, origin=origin, bytes=memory.free, reserved=0)


def list_boards() -> tuple[str, ...]:
    """Names of the boards that come with the tool, sorted."""
    return tuple(sorted(path.stem for path in resources.BOARDS.glob("*.toml")))


def load_board(name_or_path: str | Path) -> Board:
    """Read a board by the name of a shipped file, or from a TOML file of the user.

    Args:
        name_or_path: A name of `list_boards`, or the path of a file that ends in .toml.

    Returns:
        The validated board.

    Raises:
        InputRefused: No such board, or the file is not a valid description of one.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or text.endswith(".toml"):
        return _read(Path(text))
    names = list_boards()
    if text not in names:
        close = difflib.get_close_matches(text.lower(), names, n=3, cutoff=0.5)
        meant = f"did you mean {' or '.join(close)}? " if close else ""
        raise InputRefused(_STAGE, text, "unknown board", f"{meant}known: {', '.join(names)}")
    return _read(resources.BOARDS / f"{text}.toml")


def _read(path: Path) -> Board:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "name a board that onnx2mcu boards lists, or a .toml file that can be read"
        raise InputRefused(
            _STAGE, str(path), f"cannot read the board file: {reason}", hint
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputRefused(_STAGE, str(path), f"not a TOML file: {error}", _EXAMPLES) from error
    try:
        board = msgspec.convert(table, Board)
    except msgspec.ValidationError as error:
        raise InputRefused(_STAGE, str(path), str(error), _EXAMPLES) from error
    problem = _problem(board)
    if problem:
        raise InputRefused(_STAGE, str(path), problem, _EXAMPLES)
    return board


def _problem(board: Board) -> str:
    """First thing wrong with a board whose fields have the right types; "" when nothing is."""
    if not re.fullmatch(r"[\w.+-]+", board.name, re.ASCII):
        return "Expected letters, digits, - _ . + - at `$.name`"
    if not board.description.isprintable() or "*/" in board.description:
        return "Expected one line of plain text - at `$.description`"
    if board.clock_hz <= 0:
        return "Expected a positive clock - at `$.clock_hz`"
    power = board.power
    if power is not None and not (power.milliamperes > 0 and power.volts > 0 and power.source):
        return "Expected a positive current and voltage, and their source - at `$.power`"
    if board.fpu is not None and board.fpu not in _FPUS.get(board.cpu, ()):
        return f"{board.cpu} has no {board.fpu} unit - at `$.fpu`"
    if board.isa is Isa.MVE and board.fpu is None:
        return f'{board.cpu} needs fpu = "auto" - at `$.fpu`'
    for kind in ("flash", "ram"):
        if all(m.kind != kind or m.external for m in board.memory):
            return f"Expected a region inside the part of kind {kind} - at `$.memory`"
    return _memory_problem(board.memory)


def _memory_problem(memory: tuple[Memory, ...]) -> str:
    for index, region in enumerate(memory):
        where = f"at `$.memory[{index}]"
        if not region.name.isidentifier():
            return f"Expected a name of letters, digits and _ - {where}.name`"
        if region.origin < 0 or region.origin % _GRAIN:
            return f"Expected a multiple of {_GRAIN} - {where}.origin`"
        if region.bytes <= 0 or region.bytes % _GRAIN or region.end > 1 << 32:
            return f"Expected a positive multiple of {_GRAIN} within 4 GiB - {where}.bytes`"
        if not 0 <= region.reserved < region.bytes:
            return f"Expected less than the region's bytes - {where}.reserved`"
        if region.speed_rank < 0:
            return f"Expected 0 or more - {where}.speed_rank`"
    for one, two in itertools.combinations(memory, 2):
        if one.name.lower() == two.name.lower():
            return f"two regions are called {one.name} - at `$.memory`"
        if one.origin < two.end and two.origin < one.end:
            return f"regions {one.name} and {two.name} overlap - at `$.memory`"
    return ""
