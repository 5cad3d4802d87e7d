"""QEMU: one process per run, files and console through semihosting."""

import contextlib
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolchain.emit.machines import ICOUNT_SHIFT, Machine, machine_for
from toolchain.errors import RunFailed
from toolchain.run.build import BuildResult
from toolchain.run.console import Scene, judge, last_line, values
from toolchain.run.elf import Elf
from toolchain.run.emulator import RunRequest, RunResult

PROGRAM = "qemu-system-arm"
_PC = re.compile(r"R15=([0-9a-f]{8})")
_XP = re.compile(r"^[0-9a-f]{16}: (0x[0-9a-f]{8})", re.MULTILINE)
_MONITOR_S = 10.0
_REPEAT_BELOW_S = 3.0
"""Runs shorter than this are made twice: see _Measured."""


class Qemu:
    """The QEMU engine."""

    name = "qemu"

    def missing(self, cpu: str) -> str | None:  # noqa: ARG002 - every core of the table runs
        """Why QEMU cannot be used; None when it can."""
        if shutil.which(PROGRAM) is None:
            return f"{PROGRAM} is not installed: sudo apt install qemu-system-arm"
        return None

    def elf(self, build: BuildResult) -> Path:
        """The harness that is linked to the machine's addresses."""
        return build.emulation

    def run(self, request: RunRequest) -> RunResult:
        """Run all samples; see `toolchain.run.emulator.Emulator`."""
        reason = self.missing(request.board.cpu)
        if reason:
            raise RunFailed("emulate", self.name, reason)
        elf = Elf(request.elf)
        elf.check_architecture(request.board)
        machine = machine_for(request.board)
        started = time.monotonic()
        first = _once(machine, elf, request)
        if time.monotonic() - started > _REPEAT_BELOW_S:
            return first.result(machine, request)
        return first.best_of(_once(machine, elf, request)).result(machine, request)


@dataclass(frozen=True)
class _Measured:
    """What one process gave: outputs, dumps, console, and the timer's raw readings.

    A busy host sometimes makes QEMU's icount mode count a block twice when its main loop interrupts
    the processor. Such a reading is never too small, so of two runs the smaller one is right.
    """

    outputs: list[bytes]
    dumps: list[list[bytes]]
    console: str
    ticks: NDArray[np.int64]
    calibration: int
    stack_bytes: int

    def best_of(self, other: "_Measured") -> "_Measured":
        """The smaller reading of each; everything else must be the same."""
        if self.outputs != other.outputs:
            reason = "two runs on the same inputs gave different outputs"
            hint = "the firmware reads memory that it never wrote"
            raise RunFailed("emulate", "qemu", reason, hint)
        ticks = np.minimum(self.ticks, other.ticks)
        calibration = min(self.calibration, other.calibration)
        return replace(self, ticks=ticks, calibration=calibration)

    def result(self, machine: Machine, request: RunRequest) -> RunResult:
        """The same with instructions instead of ticks."""
        ratio = machine.timer.ticks_per_instruction
        ticks = self.ticks.reshape(len(request.samples), len(request.model.layers))
        return RunResult(
            emulator="qemu",
            core=f"{machine.core} ({machine.name})",
            outputs=self.outputs,
            console=self.console,
            instructions=instructions(ticks, ratio) - round(self.calibration / ratio),
            stack_bytes=self.stack_bytes,
            dumps=self.dumps,
        )


def _once(machine: Machine, elf: Elf, request: RunRequest) -> _Measured:
    """One process."""
    with tempfile.TemporaryDirectory(prefix="onnx2mcu-") as name:
        folder = Path(name)
        (folder / "in.bin").write_bytes(b"".join(request.samples))
        scene = Scene(elf, request.board, request.model)
        code, messages = _execute(folder, machine, scene, request)
        console = _text(folder / "console.txt")
        _judge(code, messages, console, scene, request)
        return _read(folder, console, request)


def command(machine: Machine, elf: Path, samples: int, dumped: int) -> list[str]:
    """QEMU's command line; the files are those of the working directory.

    Args:
        machine: The machine.
        elf: The program.
        samples: How many it runs.
        dumped: Of how many it writes every layer.
    """
    words = f"arg=fw,arg={samples},arg={dumped}"
    return [
        *(PROGRAM, "-M", machine.name, "-display", "none", "-serial", "none", "-nodefaults"),
        *("-monitor", "stdio", "-icount", f"shift={ICOUNT_SHIFT},sleep=off"),
        *("-chardev", "file,id=console,path=console.txt"),
        *("-semihosting-config", f"enable=on,target=native,chardev=console,{words}"),
        *("-kernel", str(elf.resolve())),
    ]


def _execute(folder: Path, machine: Machine, scene: Scene, request: RunRequest) -> tuple[int, str]:
    """Exit code and messages of QEMU.

    Raises:
        RunFailed: The time is over.
    """
    arguments = command(machine, scene.elf.path, len(request.samples), request.dumped)
    messages = folder / "messages.txt"
    with messages.open("wb") as stream:
        process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=stream, stderr=subprocess.STDOUT, cwd=folder
        )
        try:
            process.wait(request.timeout_s)
        except subprocess.TimeoutExpired as error:
            _ask_registers(process, scene.elf)
            raise _late(folder, scene, request) from error
        finally:
            process.kill()
            process.wait()
    return process.returncode, _text(messages)


def _ask_registers(process: subprocess.Popen[bytes], elf: Elf) -> None:
    """Have the monitor print where the core is and which layer runs, and end QEMU."""
    look = f"info registers\nxp /1xw {elf.address('onnx2mcu_layer')}\nquit\n"
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        process.communicate(look.encode(), timeout=_MONITOR_S)


def _late(folder: Path, scene: Scene, request: RunRequest) -> RunFailed:
    """The error of a run that did not end."""
    answer = _text(folder / "messages.txt")
    pc, layer = (found and int(found[1], 16) for found in (_PC.search(answer), _XP.search(answer)))
    written = folder / "out.bin"
    size = sum(port.nbytes for port in request.model.outputs)
    sample = written.stat().st_size // max(1, size) if written.exists() else 0
    return scene.late(request.timeout_s, sample, pc, layer)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _judge(code: int, messages: str, console: str, scene: Scene, request: RunRequest) -> None:
    """Raise what went wrong, if anything did."""
    found = values(console)
    judge(found, scene)
    if code == 0 and found.get("done") == len(request.samples):
        return
    name = scene.elf.path.name
    if code < 0:
        hint = last_line(console)
        raise RunFailed("emulate", name, f"QEMU died of signal {-code}: lock-up?", hint)
    reason = next((line for line in messages.splitlines() if "qemu" in line), "")
    reason = reason or f"QEMU ended with code {code}"
    raise RunFailed("emulate", name, reason, last_line(console))


def _read(folder: Path, console: str, request: RunRequest) -> _Measured:
    found = values(console)
    model = request.model
    size = sum(port.nbytes for port in model.outputs)
    outputs = _split((folder / "out.bin").read_bytes(), [size] * len(request.samples))
    dumps = []
    if request.dumped:
        sizes = [layer.nbytes for layer in model.layers]
        flat = _split((folder / "dump.bin").read_bytes(), sizes * request.dumped)
        step = len(sizes)
        dumps = [flat[i * step : (i + 1) * step] for i in range(request.dumped)]
    ticks = np.fromfile(folder / "counts.bin", dtype="<u4").astype(np.int64)
    return _Measured(outputs, dumps, console, ticks, found["calibration"], found["stack"])


def instructions(ticks: NDArray[np.int64], per_instruction: Fraction) -> NDArray[np.int64]:
    """Instructions between two readings of the timer.

    Each reading is cut off to a whole tick, so a difference is off by less than one; with more than
    two ticks per instruction, rounding gives the exact number.

    Args:
        ticks: Differences of readings, any shape.
        per_instruction: Ticks per instruction, above 2.
    """
    numerator, denominator = per_instruction.as_integer_ratio()
    return (2 * ticks * denominator + numerator) // (2 * numerator)


def _split(data: bytes, sizes: list[int]) -> list[bytes]:
    parts, start = [], 0
    for size in sizes:
        parts.append(data[start : start + size])
        start += size
    if start != len(data):
        raise RunFailed("emulate", "qemu", f"a result file has {len(data)} bytes, not {start}")
    return parts
