"""Run a job in Renode through pyrenode3. A process of its own: `python -m` this module FOLDER.

.NET cannot be unloaded, an exception that escapes into it ends the process, and a hanging
emulation can only be killed: none of that may happen to the caller.

FOLDER holds job.json, board.repl and in<sample>_<port>.bin. The session writes
out<sample>_<port>.bin, dump<sample>_<part>_<layer>.bin, what the firmware prints as
semihosting.txt and uart.txt, stacks.txt if it is to profile, and `events`, one line each:

    M layer instructions                the core stands on onnx2mcu_mark
    D status stack_bytes                an inference is over
    F exception sp cfsr hfsr mmfar bfar pc lr
    W address                           the flash no longer holds what was loaded, from here
    E unexpected_reads unexpected_writes    all samples are done
    U reads writes pc sp                accesses outside all memories: Renode only counts them
    T pc                                the time on the wall is over
    V pc                                the emulated time of an inference is over
    X text                              trouble with the engine
"""

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from toolchain.run.elf import Elf
from toolchain.run.renode_job import Job, Port

OLDEST = (1, 16, 1)
"""The first version of Renode with Cortex-M55 and MVE."""
OLDEST_NAME = ".".join(map(str, OLDEST))
STACKS = "stacks.txt"
_SP = 13
_SLICE_US = 50_000
"""Emulated time between two looks at the clock on the wall."""


def load() -> str | None:
    """Import pyrenode3, which starts .NET and loads Renode; returns why it cannot, one line."""
    os.environ.setdefault("PYRENODE_RUNTIME", "coreclr")  # its own default, Mono, is history
    os.environ.setdefault("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
    try:
        import pyrenode3.wrappers  # noqa: F401
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())
        return f"{type(error).__name__}: {text[:200]}"
    version = ""
    with contextlib.suppress(Exception):  # assumption 11 tells
        version = old_version(loaded_version())
    return f"Renode is version {version}, older than {OLDEST_NAME}" if version else None


def loaded_version() -> str:
    """What the loaded Renode calls its version; "" when it does not tell.

    EmulationManager.VersionString asks the entry assembly; a .NET that Python hosts has none.
    """
    from System import AppDomain

    for assembly in AppDomain.CurrentDomain.GetAssemblies():
        name = assembly.GetName()
        if name.Name == "Renode":
            return str(name.Version)
    return ""


def old_version(text: str) -> str:
    """The version in a text if it is older than OLDEST; "" when it will do, or is not told."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    if found is None or tuple(map(int, found.groups())) >= OLDEST:
        return ""
    return found[0]


class Session:
    """One emulation of one job.

    Args:
        folder: The job's folder.
        job: The job.
    """

    def __init__(self, folder: Path, job: Job) -> None:
        from Antmicro.Renode.Peripherals.CPU import CpuAddressHook
        from pyrenode3.wrappers import Emulation
        from System import UInt32, UInt64

        self.folder, self.job, self.u64 = folder, job, UInt64
        self.over = False
        self.elapsed_us = self.began_us = 0  # emulated time: now, and when the inference began
        self.hooks: list[Any] = []  # .NET holds no reference that keeps a Python callable alive
        self.emulation = Emulation()
        self.emulation.clear()
        machine = self.emulation.add_mach("board")
        machine.load_repl(str(folder / "board.repl"))
        machine.load_elf(job.elf)
        # .internal: the wrapper's attributes would be Python's, not Renode's.
        self.bus, self.cpu = machine.sysbus.internal, machine.sysbus.cpu.internal
        self.cpu.PerformanceInMips = UInt32(job.mips)
        self.cpu.VectorTableOffset = UInt32(job.vector_table)
        self._at(CpuAddressHook, job.ready, self._ready)
        self._at(CpuAddressHook, job.mark, self._mark)
        self._at(CpuAddressHook, job.done, self._done)
        self._at(CpuAddressHook, job.faulted, self._faulted)
        self._listen("semihosting", lambda: machine.sysbus.cpu.semihosting.console)
        if job.uart:
            self._listen("uart", lambda: machine.sysbus.uart)
        if job.profile:
            self.cpu.EnableProfilerCollapsedStack(str(folder / STACKS))

    def _listen(self, name: str, find: Callable[[], Any]) -> None:
        """Write what a serial port sends to a file of that name; a run can do without."""
        path = self.folder / f"{name}.txt"

        def received(byte: Any) -> None:
            with contextlib.suppress(Exception), path.open("ab") as stream:
                stream.write(bytes([int(byte) & 0xFF]))

        self.hooks.append(received)
        try:
            port = find().internal
            port.CharReceived += received
        except Exception as error:
            path.write_text(f"({name} is not heard: {' '.join(str(error).split())})\n")

    def _at(self, delegate: Any, address: int, action: Callable[[], None]) -> None:
        def call(_cpu: Any, _address: Any) -> None:
            try:
                if not self.over:
                    action()
            except BaseException as error:
                self._stop(f"X {type(error).__name__}: {error}")

        hook = delegate(call)
        self.hooks.append(hook)
        self.cpu.AddHook(self.u64(address), hook)

    def run(self) -> None:
        """Advance the emulated time until the job is over or its time is."""
        from Antmicro.Renode.Time import TimeInterval
        from Antmicro.Renode.UserInterface import MonitorTimeExtensions

        emulation = self.emulation.internal
        MonitorTimeExtensions.SetGlobalAdvanceImmediately(emulation, True)
        step = TimeInterval.FromMicroseconds(self.u64(_SLICE_US))
        end = time.monotonic() + self.job.timeout_s
        while not self.over:
            emulation.RunFor(step)
            self.elapsed_us += _SLICE_US
            reads, writes = int(self.bus.UnexpectedReads), int(self.bus.UnexpectedWrites)
            if not self.over and (reads or writes):
                stack = int(self.cpu.GetRegister(_SP).RawValue)
                self._stop(f"U {reads} {writes} {int(self.cpu.PC.RawValue)} {stack}")
            elif not self.over and time.monotonic() > end:
                self._stop(f"T {int(self.cpu.PC.RawValue)}")
            elif not self.over and self.elapsed_us - self.began_us > 1e6 * self.job.emulated_s:
                self._stop(f"V {int(self.cpu.PC.RawValue)}")
        if self.job.profile:
            self.cpu.DisableProfiler()  # which closes the file
        self.emulation.clear()

    def _stop(self, event: str) -> None:
        self.over = True
        self._event(event)
        self.cpu.IsHalted = True

    def _event(self, line: str) -> None:
        with (self.folder / "events").open("a", encoding="utf-8") as stream:
            stream.write(" ".join(line.splitlines()) + "\n")

    def _word(self, address: int) -> int:
        return int(self.bus.ReadDoubleWord(self.u64(address)))

    def _read(self, address: int, size: int) -> bytes:
        return bytes(self.bus.ReadBytes(self.u64(address), size))

    # --- hooks: the core stands before the first instruction of the function ------------------

    def _ready(self) -> None:
        self.began_us = self.elapsed_us
        sample = self._word(self.job.sample)
        if sample >= self.job.count:
            self._check_flash()
            self._stop(f"E {int(self.bus.UnexpectedReads)} {int(self.bus.UnexpectedWrites)}")
            return
        for index, port in enumerate(self.job.inputs):
            self._write(self._word(port.pointer), self.folder / f"in{sample}_{index}.bin")

    def _write(self, address: int, path: Path) -> None:
        from System.IO import File

        # Bytes that .NET reads itself: converting Python's costs a microsecond each.
        self.bus.WriteBytes(File.ReadAllBytes(str(path)), self.u64(address))

    def _mark(self) -> None:
        layer = int(self.cpu.GetRegister(0).RawValue)
        self._event(f"M {layer} {int(self.cpu.ExecutedInstructions)}")
        sample = self._word(self.job.sample)
        if 0 < layer <= len(self.job.layers) and sample < self.job.dumped:
            for part, (address, size) in enumerate(self.job.layers[layer - 1]):
                path = self.folder / f"dump{sample}_{part}_{layer - 1}.bin"
                path.write_bytes(self._read(address, size))

    def _done(self) -> None:
        sample = self._word(self.job.sample)
        for index, port in enumerate(self.job.outputs):
            self._save(port, self.folder / f"out{sample}_{index}.bin")
        self._event(f"D {self._word(self.job.status)} {self._word(self.job.stack)}")

    def _save(self, port: Port, path: Path) -> None:
        path.write_bytes(self._read(self._word(port.pointer), port.bytes))

    def _faulted(self) -> None:
        record = [self._word(self.job.fault + 4 * index) for index in range(8)]
        self._stop("F " + " ".join(str(word) for word in record))

    def _check_flash(self) -> None:
        """Renode's memory is writable throughout: compare it with what was loaded."""
        for address, data in Elf(Path(self.job.elf)).segments:
            found = self._read(address, len(data))
            if found != data:
                first = next(
                    i for i, pair in enumerate(zip(found, data, strict=True)) if pair[0] != pair[1]
                )
                self._event(f"W {address + first}")
                return


def main(arguments: list[str]) -> int:
    """Run the job of a folder; without a folder, only see whether Renode can be loaded."""
    reason = load()
    if reason is not None:
        print(reason)
        return 1
    if arguments:
        folder = Path(arguments[0])
        job = msgspec.json.decode((folder / "job.json").read_bytes(), type=Job)
        Session(folder, job).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
