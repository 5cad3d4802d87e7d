"""What the Renode engine takes from Renode's sources, each with the check that shows it.

Renode was not at hand when the engine was written. `onnx2mcu doctor --emulator renode` runs the
checks where it is. They need no compiler: the program is a few instructions, written out below. A
process of its own, as `toolchain.run.renode_session`: `python -m` this module FOLDER prints lines
"NUMBER what was seen instead", with nothing behind the number where the assumption holds.
"""

import contextlib
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolchain.board import list_boards, load_board
from toolchain.emit.renode import CPU_TYPES, platform
from toolchain.run.renode_session import load, loaded_version

_CODE = 0x40
_LOOP_ENDS, _STORED, _ENDS = 0x48, 0x4E, 0x52
_PROGRAM = struct.pack(
    "<10HI",
    0x2000,  # 40 movs r0, #0
    0x3001,  # 42 adds r0, #1
    0x280A,  # 44 cmp r0, #10
    0xD1FC,  # 46 bne 42
    0xBF00,  # 48 nop
    0x4902,  # 4A ldr r1, [54]
    0x6008,  # 4C str r0, [r1]      where no memory is
    0x2100,  # 4E movs r1, #0
    0x6008,  # 50 str r0, [r1]      in the flash
    0xE7FE,  # 52 b 52
    0x70000000,
)
_STACK = 0x20000800
_TURNS = 10
_COUNT = 1 + 3 * _TURNS
_RUN_US = 50_000
_SCRIPT = """mach create
machine LoadPlatformDescription $ORIGIN/board.repl
sysbus LoadELF $ORIGIN/probe.elf
sysbus.cpu VectorTableOffset 0
emulation SetGlobalAdvanceImmediately true
sysbus.cpu.semihosting.console CreateFileBackend $ORIGIN/semihosting.txt true
sysbus.uart CreateFileBackend $ORIGIN/uart.txt true
sysbus.cpu EnableProfilerCollapsedStack $ORIGIN/stacks.txt
sysbus.cpu AddHook {hook} \"\"\"
import System
machine.SystemBus.ReadDoubleWord(System.UInt64(0))
System.IO.File.WriteAllText('{path}', str(cpu.ExecutedInstructions))
\"\"\"
emulation RunFor "0.05"
sysbus.cpu DisableProfiler
quit
"""


_WORDS = "onnx2mcu"
_SPEAKER = struct.pack(
    "<16HIIIII",
    0x4907,  # 40 ldr r1, [60]
    0x2201,  # 42 movs r2, #1
    0x608A,  # 44 str r2, [r1, #8]   CTRL: the transmitter is on
    0x2221,  # 46 movs r2, #0x21
    0x600A,  # 48 str r2, [r1]       DATA
    0x4906,  # 4A ldr r1, [64]
    0x2004,  # 4C movs r0, #4        SYS_WRITE0
    0xBEAB,  # 4E bkpt 0xAB
    0xF000,  # 50 bl 5C
    0xF804,
    0xF000,  # 54 bl 5C
    0xF802,
    0xE7FE,  # 58 b 58
    0xBF00,  # 5A nop
    0xBF00,  # 5C nop
    0x4770,  # 5E bx lr
    0x40004000,  # 60
    0x68,  # 64
    *struct.unpack("<II", _WORDS.encode()),  # 68
    0,
)
_SPEAKER_STACKS = [(1, 9), (2, 2), (1, 1), (2, 2)]
"""(depth, instructions) of the stretches of the second program."""


@dataclass
class Probe:
    """What one run of the program in Renode showed.

    Attributes:
        hooks: (address, PC, R0, SP, instructions so far) at every stop.
        halted_at: PC after the run that a hook ended.
        went_on: PC after the next run.
        writes: Writes outside all memories.
        flash: First word of the flash at the end.
        emulated_s: Emulated time at the end.
        heard: What the second program sent through semihosting, and through the serial port.
        stacks: Lines of the profiler on the second program.
    """

    hooks: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    halted_at: int = -1
    went_on: int = -1
    writes: int = -1
    flash: int = -1
    emulated_s: float = -1.0
    heard: dict[str, str] = field(default_factory=lambda: {"console": "", "uart": ""})
    stacks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Assumption:
    """One assumption.

    Attributes:
        number: How code and messages name it.
        text: The assumption.
        check: What was seen instead, from the probe and the job's folder; "" when it holds.
    """

    number: int
    text: str
    check: Callable[[Probe, Path], str]


def _differs(seen: object, expected: object) -> str:
    return "" if seen == expected else f"{seen} instead of {expected}"


def _first(probe: Probe, item: int) -> int:
    return probe.hooks[0][item] if probe.hooks else -1


def _last_word(_probe: Probe, folder: Path) -> str:
    """A machine with a RAM of 0x400 bytes at a multiple of 0x400."""
    text = platform(load_board("mps2-an386"))
    text = text.replace("0x20000000\n    size: 0x400000", "0x20000400\n    size: 0x400")
    _, bus, _, u64 = _machine(folder, text)
    bus.WriteBytes(b"\x01\x02\x03\x04", u64(0x200007FC))
    return _differs(int(bus.ReadDoubleWord(u64(0x200007FC))), 0x04030201)


def _cores(_probe: Probe, folder: Path) -> str:
    wrong = []
    text = platform(load_board("mps2-an386"))
    for kind in CPU_TYPES.values():
        try:
            _machine(folder, text.replace('"cortex-m4"', f'"{kind}"'))
        except Exception as error:
            wrong.append(f"{kind}: {' '.join(str(error).split())[:100]}")
    return "; ".join(wrong)


def _version(_probe: Probe, _folder: Path) -> str:
    found = loaded_version()
    return "" if re.match(r"\d+\.\d+\.\d+", found) else f"its version is {found!r}"


def _ports(_probe: Probe, folder: Path) -> str:
    """The serial port of every board that names one."""
    wrong = []
    for board in filter(lambda board: board.renode.uart, map(load_board, list_boards())):
        text = re.sub(r'cpuType: ".*"', 'cpuType: "cortex-m4"', platform(board))
        try:
            _machine(folder, text, "")
        except Exception as error:
            told = " ".join(str(error).split())[:100]
            wrong.append(f"{board.name}: {told}")
    return "; ".join(wrong)


def _stacks(probe: Probe, _folder: Path) -> str:
    seen = [(s.count(";") + 1, int(n)) for s, _, n in (x.rpartition(" ") for x in probe.stacks)]
    return _differs(seen[: len(_SPEAKER_STACKS)], _SPEAKER_STACKS) or _differs(
        seen[len(_SPEAKER_STACKS) :] and seen[-1][0], 1
    )


def _executable(_probe: Probe, folder: Path) -> str:
    """A script with a hook, run by the program."""
    from toolchain.run.renode import OPTIONS, executable

    program = executable()
    if program is None:
        return ""
    found = folder / "count.txt"
    (folder / "board.repl").write_text(platform(load_board("mps2-an386")), encoding="utf-8")
    script = _SCRIPT.format(hook=_LOOP_ENDS, path=found.as_posix())
    (folder / "probe.resc").write_text(script, encoding="utf-8")
    words = [program, *OPTIONS, str(folder / "config"), str(folder / "probe.resc")]
    subprocess.run(words, stdin=subprocess.PIPE, capture_output=True, timeout=60, check=False)
    return _differs(found.read_text() if found.exists() else "nothing", str(_COUNT))


ASSUMPTIONS = (
    Assumption(
        1,
        "a hook stops the core before the instruction at its address, without the Thumb bit",
        lambda p, _: _differs(
            (_first(p, 0), _first(p, 1), _first(p, 2)), (_LOOP_ENDS,) * 2 + (_TURNS,)
        ),
    ),
    Assumption(
        2,
        "ExecutedInstructions is exact in a hook",
        lambda p, _: _differs(_first(p, 4), _COUNT),
    ),
    Assumption(
        3,
        "IsHalted = True in a hook stops the core there, RunFor returns, and can be repeated",
        lambda p, _: _differs((p.halted_at, p.went_on), (_LOOP_ENDS, _ENDS)),
    ),
    Assumption(
        4,
        "CpuAddressHook(callable) makes the delegate; hooks run while RunFor blocks the caller",
        lambda p, _: "" if p.hooks else "no hook ran",
    ),
    Assumption(
        5,
        "VectorTableOffset may be set after LoadELF; stack pointer and entry are read from there",
        lambda p, _: _differs(_first(p, 3), _STACK),
    ),
    Assumption(
        6,
        "accesses outside all memories do not fault: UnexpectedReads and UnexpectedWrites count",
        lambda p, _: _differs(p.writes, 1),
    ),
    Assumption(
        7,
        "MappedMemory can be written by the firmware, also where it plays the flash",
        lambda p, _: _differs(p.flash, _TURNS),
    ),
    Assumption(8, "memories begin and end on multiples of 0x400", _last_word),
    Assumption(9, "Renode knows every name of CPU_TYPES; Cortex-M55 since 1.16.1", _cores),
    Assumption(
        10,
        "the executable: hooks as triple-quoted strings that know `cpu` and `machine`, $ORIGIN, "
        "CreateFileBackend and the profiler as commands, an open standard input keeps it alive "
        "(checked where `renode` is installed)",
        _executable,
    ),
    Assumption(
        11,
        "an assembly called Renode is among the loaded ones, with the version of the release",
        _version,
    ),
    Assumption(
        12,
        "what the firmware prints by semihosting comes as CharReceived of "
        "sysbus.cpu.semihosting.console, a byte at a time",
        lambda p, _: _differs(p.heard["console"], _WORDS),
    ),
    Assumption(
        13,
        "a serial port's CharReceived tells every byte that its transmitter is given",
        lambda p, _: _differs(p.heard["uart"], "!"),
    ),
    Assumption(14, "Renode knows the serial port of every board file", _ports),
    Assumption(
        15,
        "RunFor advances the emulated time by what it is given, also while the core is halted",
        lambda p, _: _differs(round(p.emulated_s, 6), 2 * _RUN_US / 1e6),
    ),
    Assumption(
        16,
        "the profiler writes a line at every BL and at every return, NAMES and the instructions "
        "since the line before; the first line counts from the reset",
        _stacks,
    ),
)


def _machine(
    folder: Path, text: str, program: str = "probe.elf", listen: Callable[[Any], None] | None = None
) -> tuple[Any, Any, Any, Any]:
    """A fresh machine: (emulation, bus, core, type of addresses)."""
    from pyrenode3.wrappers import Emulation
    from System import UInt64

    path = folder / "machine.repl"
    path.write_text(text, encoding="utf-8")
    emulation = Emulation()
    emulation.clear()
    machine = emulation.add_mach("probe")
    machine.load_repl(str(path))
    if program:
        machine.load_elf(str(folder / program))
    if listen is not None:
        listen(machine)
    return emulation, machine.sysbus.internal, machine.sysbus.cpu.internal, UInt64


def run_probe(folder: Path) -> Probe:
    """Run the program in Renode through pyrenode3, which must be loaded."""
    from Antmicro.Renode.Peripherals.CPU import CpuAddressHook
    from Antmicro.Renode.Time import TimeInterval
    from Antmicro.Renode.UserInterface import MonitorTimeExtensions
    from System import UInt32

    probe = Probe()
    emulation, bus, cpu, u64 = _machine(folder, platform(load_board("mps2-an386")))
    cpu.PerformanceInMips = UInt32(25)
    cpu.VectorTableOffset = UInt32(0)

    def stop(_cpu: Any, address: Any) -> None:
        pc, r0, sp = (int(cpu.GetRegister(n).RawValue) for n in (15, 0, 13))
        probe.hooks.append((int(address), pc, r0, sp, int(cpu.ExecutedInstructions)))
        if len(probe.hooks) == 1:
            cpu.IsHalted = True

    hook = CpuAddressHook(stop)
    cpu.AddHook(u64(_LOOP_ENDS), hook)
    MonitorTimeExtensions.SetGlobalAdvanceImmediately(emulation.internal, True)
    step = TimeInterval.FromMicroseconds(u64(_RUN_US))
    emulation.internal.RunFor(step)
    probe.halted_at = int(cpu.PC.RawValue)
    cpu.IsHalted = False
    emulation.internal.RunFor(step)
    probe.went_on = int(cpu.PC.RawValue)
    probe.writes = int(bus.UnexpectedWrites)
    probe.flash = int(bus.ReadDoubleWord(u64(0)))
    probe.emulated_s = float(emulation.internal.MasterTimeSource.ElapsedVirtualTime.TotalSeconds)
    _run_speaker(folder, probe)
    return probe


def _run_speaker(folder: Path, probe: Probe) -> None:
    """The second program: it prints and calls."""
    from Antmicro.Renode.Time import TimeInterval
    from Antmicro.Renode.UserInterface import MonitorTimeExtensions
    from System import UInt32

    kept = []

    def listen(machine: Any) -> None:
        ports: dict[str, Callable[[], Any]] = {
            "console": lambda: machine.sysbus.cpu.semihosting.console.internal,
            "uart": lambda: machine.sysbus.uart.internal,
        }
        for name, find in ports.items():
            with contextlib.suppress(Exception):  # then nothing is heard
                port = find()

                def received(byte: Any, name: str = name) -> None:
                    probe.heard[name] += chr(int(byte))

                kept.append(received)
                port.CharReceived += received

    text = platform(load_board("mps2-an386"))
    emulation, _, cpu, u64 = _machine(folder, text, "speaker.elf", listen)
    cpu.PerformanceInMips = UInt32(25)
    cpu.VectorTableOffset = UInt32(0)
    path = folder / "stacks.txt"
    with contextlib.suppress(Exception):
        cpu.EnableProfilerCollapsedStack(str(path))
    MonitorTimeExtensions.SetGlobalAdvanceImmediately(emulation.internal, True)
    emulation.internal.RunFor(TimeInterval.FromMicroseconds(u64(_RUN_US)))
    with contextlib.suppress(Exception):
        cpu.DisableProfiler()
        probe.stacks = path.read_text(encoding="utf-8").splitlines()


def probe_elf(program: bytes) -> bytes:
    """A program as an ELF file with one segment at address 0."""
    data = struct.pack("<16I", _STACK, _CODE | 1, *[_CODE | 1] * 14) + program
    head = b"\x7fELF\x01\x01\x01" + bytes(9)
    head += struct.pack(
        "<HHIIIIIHHHHHH", 2, 40, 1, _CODE | 1, 52, 0, 0x5000200, 52, 32, 1, 40, 0, 0
    )
    size = len(data)
    return head + struct.pack("<8I", 1, 84, 0, 0, size, size, 5, 4) + data


def main(arguments: list[str]) -> int:
    """Check every assumption; prints a line for each."""
    reason = load()
    if reason is not None:
        print(reason)
        return 1
    folder = Path(arguments[0])
    (folder / "probe.elf").write_bytes(probe_elf(_PROGRAM))
    (folder / "speaker.elf").write_bytes(probe_elf(_SPEAKER))
    probe = run_probe(folder)
    for assumption in ASSUMPTIONS:
        try:
            seen = assumption.check(probe, folder)
        except Exception as error:
            seen = f"{type(error).__name__}: {error}"
        print(assumption.number, " ".join(seen.split()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
