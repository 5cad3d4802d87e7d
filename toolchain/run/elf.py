"""What an ELF file tells: sizes, symbols, architecture."""

import bisect
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from toolchain.board import Board
from toolchain.errors import RunFailed

_SHF_WRITE, _SHF_ALLOC = 1, 2
_STT_NOTYPE, _STT_OBJECT, _STT_FUNC = 0, 1, 2
_STB_GLOBAL = 1
_SHN_UNDEF, _SHN_LORESERVE = 0, 0xFF00
_SYMBOL = struct.Struct("<IIIBBH")
_HARNESS, _VECTORS = ".harness", ".vectors"
_FURTHER = re.compile(r"\.(flash|load|ram)\.(\w+)")
"""Sections of further memories: constants, variables with initial values, zeroed ones."""

# Tag_CPU_arch of the build attributes (Arm's ABI addenda). The linker merges objects to the
# highest architecture, so one object built for more than the core has shows in the result.
_ARCHITECTURES: dict[int, str] = {
    10: "Armv7-M",
    11: "Armv6-M",
    12: "Armv6-M",
    13: "Armv7E-M",
    16: "Armv8-M Baseline",
    17: "Armv8-M Mainline",
    21: "Armv8.1-M Mainline",
}
_CORES = {
    "cortex-m0": "Armv6-M",
    "cortex-m0plus": "Armv6-M",
    "cortex-m3": "Armv7-M",
    "cortex-m4": "Armv7E-M",
    "cortex-m7": "Armv7E-M",
    "cortex-m33": "Armv8-M Mainline",
    "cortex-m55": "Armv8.1-M Mainline",
}


@dataclass(frozen=True)
class Sizes:
    """Bytes of a program, by where they go.

    Attributes:
        code: Instructions, vector table and small constants, in flash.
        weights: Constants of the model, in flash; those that are copied to a further RAM too.
        data: Variables with initial values: in flash and in RAM.
        bss: Variables that start at zero, the arena among them, in RAM.
        stack: Reserved for the stack, in RAM.
        memories: Bytes in every further memory, by its name.
    """

    code: int
    weights: int
    data: int
    bss: int
    stack: int
    memories: Mapping[str, int] = field(default_factory=dict)

    @property
    def flash(self) -> int:
        """Bytes of flash."""
        return self.code + self.weights + self.data

    @property
    def ram(self) -> int:
        """Bytes of RAM."""
        return self.data + self.bss + self.stack


class Function(NamedTuple):
    """A function: first address, first address behind it, name."""

    start: int
    end: int
    name: str


class _Symbol(NamedTuple):
    """An entry of the symbol table, in the numbers of the ELF specification.

    Args:
        name: Its name.
        value: Address.
        size: In bytes.
        kind: STT_...
        bind: STB_...
        home: Index of its section, or SHN_...
    """

    name: str
    value: int
    size: int
    kind: int
    bind: int
    home: int


class Elf:
    """An ELF file, read once.

    Args:
        path: The file.

    Raises:
        RunFailed: It cannot be read or is no Arm ELF file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as stream:
                self._read(ELFFile(stream))
        except OSError as error:
            raise RunFailed("elf", str(path), error.strerror or str(error), "build it") from error
        except (ELFError, struct.error, ValueError) as error:
            raise RunFailed("elf", str(path), f"not an ELF file: {error}") from error

    def _read(self, file: Any) -> None:
        if file["e_machine"] != "EM_ARM":
            raise RunFailed("elf", str(self.path), "not a program for Arm")
        self.segments: list[tuple[int, bytes]] = [
            (segment["p_paddr"], segment.data())
            for segment in file.iter_segments()
            if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
        ]
        self._sections: list[tuple[str, str, int]] = [
            (section.name, section["sh_type"], section["sh_size"])
            for section in file.iter_sections()
            if section["sh_flags"] & _SHF_ALLOC
        ]
        self.symbols: dict[str, int] = {}
        self._named: list[tuple[int, int, str]] = []
        self._marks: list[tuple[int, bool]] = []  # where code (True) or data begins
        functions: dict[int, Function] = {}
        constants: dict[int, int] = {}
        vectors = file.get_section_index(_VECTORS)  # no code takes its functions from there
        for symbol in _symbols(file):
            value, size, name = symbol.value, symbol.size, symbol.name
            if name[:2] in ("$t", "$d"):
                self._marks.append((value, name[1] == "t"))
            if not name or name.startswith("$") or symbol.home == _SHN_UNDEF:
                continue
            if symbol.kind == _STT_FUNC:
                value &= ~1  # the Thumb bit
                functions[value] = Function(value, value + size, name)
            if symbol.kind in (_STT_FUNC, _STT_OBJECT):
                self._named.append((value, size, name))
            if symbol.kind == _STT_OBJECT and symbol.home != vectors:
                constants[value] = size
            if symbol.kind in (_STT_FUNC, _STT_OBJECT, _STT_NOTYPE):
                self.symbols[name] = value
        self._named.sort()
        self._marks.sort()
        self.functions = _with_extents(functions, self.symbols)
        self._constants = constants
        self._architecture = _architecture(file)

    def address(self, name: str) -> int:
        """Address of a symbol, without the Thumb bit.

        Raises:
            RunFailed: There is no such symbol.
        """
        if name not in self.symbols:
            hint = "build the project again with this version of the tool"
            raise RunFailed("elf", self.path.name, f"no symbol {name}", hint)
        return self.symbols[name]

    def symbol_at(self, address: int) -> str | None:
        """The function or object that holds an address, as "name+0x12"; None outside of all."""
        index = bisect.bisect_right(self._named, (address, 1 << 32, "")) - 1
        if index < 0:
            return None
        start, size, name = self._named[index]
        if address >= start + max(size, 1):
            return None
        return name if address == start else f"{name}+0x{address - start:x}"

    def function_at(self, address: int) -> Function | None:
        """The function that holds an address."""
        index = bisect.bisect_right(self.functions, (address, 1 << 32, "")) - 1
        found = self.functions[index] if index >= 0 else None
        return found if found is not None and address < found.end else None

    def constant_at(self, address: int) -> bytes:
        """The bytes in flash of the object that begins at an address; empty when none does."""
        return self.read(address, self._constants.get(address, 0))

    def read(self, address: int, size: int) -> bytes:
        """What the file holds at an address; empty when it holds nothing there."""
        for start, data in self.segments:
            if start <= address < start + len(data):
                return data[address - start : address - start + size]
        return b""

    def pieces(self, function: Function) -> Iterator[tuple[int, bytes, bool]]:
        """(address, bytes, whether it is code) of the runs of code and data in a function."""
        index = max(0, bisect.bisect_right(self._marks, (function.start, True)) - 1)
        start, code = function.start, True
        for at, kind in self._marks[index:]:
            if at > start:
                end = min(at, function.end)
                yield start, self.read(start, end - start), code
                start = end
            if at >= function.end:
                return
            code = kind
        if start < function.end:
            yield start, self.read(start, function.end - start), code

    @cached_property
    def sizes(self) -> Sizes:
        """Bytes of the program; what only the harness needs is left out."""
        sums = {"code": 0, "weights": 0, "data": 0, "bss": 0, "stack": 0}
        memories: dict[str, int] = {}
        for name, kind, size in self._sections:
            further = _FURTHER.fullmatch(name)
            if further is not None:
                memories[further[2]] = memories.get(further[2], 0) + size
                sums["weights"] += size if further[1] == "load" else 0
            elif name in (".weights", ".data", ".stack"):
                sums[name[1:]] += size
            elif name != _HARNESS:
                sums["bss" if kind == "SHT_NOBITS" else "code"] += size
        return Sizes(**sums, memories=memories)

    def check_architecture(self, board: Board) -> None:
        """Refuse a program with instructions the core lacks; emulators may execute them happily.

        Raises:
            RunFailed: The build attributes name another architecture than the core's.
        """
        found = _ARCHITECTURES.get(self._architecture, f"architecture {self._architecture}")
        if found != _CORES[board.cpu]:
            reason = f"built for {found}, but {board.cpu} is {_CORES[board.cpu]}"
            hint = "look for an object or library compiled with other -mcpu flags"
            raise RunFailed("build", self.path.name, reason, hint)


def _symbols(file: Any) -> Iterator[_Symbol]:
    """The symbol table; a whole program has thousands, and every one is looked at."""
    table = file.get_section_by_name(".symtab")
    if table is None:
        return
    names = table.stringtable.data()
    for at, value, size, info, _, home in _SYMBOL.iter_unpack(table.data()):
        name = names[at : names.index(b"\0", at)].decode("utf-8", errors="replace")
        yield _Symbol(name, value, size, info & 15, info >> 4, home)


def _with_extents(functions: dict[int, Function], symbols: dict[str, int]) -> list[Function]:
    """Functions by address; one of assembly that states no size ends where the next one begins."""
    ordered = sorted(functions.values())
    ends = [function.start for function in ordered[1:]] + [symbols.get("__text_end", 0)]
    return [
        function
        if function.end > function.start
        else function._replace(end=max(end, function.start))
        for function, end in zip(ordered, ends, strict=True)
    ]


def _architecture(file: Any) -> int:
    section = file.get_section_by_name(".ARM.attributes")
    for subsection in section.subsections if section else ():
        for block in subsection.subsubsections:
            for attribute in block.attributes:
                if attribute.tag == "TAG_CPU_ARCH":
                    return int(attribute.value)
    return -1


class ObjectFile:
    """A compiled source file, before it is linked.

    Args:
        path: The file.

    Attributes:
        exported: Names it defines for others.
        variables: (name, bytes, whether it has an initial value) of everything in RAM.
    """

    def __init__(self, path: Path) -> None:
        self.exported: list[str] = []
        self.variables: list[tuple[str, int, bool]] = []
        with path.open("rb") as stream:
            file: Any = ELFFile(stream)
            for symbol in _symbols(file):
                if symbol.home == _SHN_UNDEF:
                    continue
                if symbol.bind == _STB_GLOBAL:
                    self.exported.append(symbol.name)
                if symbol.kind != _STT_OBJECT or not symbol.size:
                    continue
                defined = symbol.home < _SHN_LORESERVE
                section = file.get_section(symbol.home) if defined else None
                if section is None or section["sh_flags"] & _SHF_WRITE:
                    zeroed = section is None or section["sh_type"] == "SHT_NOBITS"
                    self.variables.append((symbol.name, symbol.size, not zeroed))
