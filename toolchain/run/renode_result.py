"""What a Renode run left in its folder, as a result or as the error that stopped it."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolchain.emit.project import CANARY_FAULT
from toolchain.errors import RunFailed
from toolchain.run.console import Fault, Scene
from toolchain.run.elf import Elf
from toolchain.run.emulator import CALIBRATION, RunRequest, RunResult
from toolchain.run.renode_job import Job

FINAL = ("E", "F", "T", "U", "V", "X")
"""Events after which nothing follows; `toolchain.run.renode_session` lists them all."""
_QEMU = "run it with --emulator qemu to see the instruction"


def read_events(folder: Path) -> list[list[str]]:
    """Complete lines of the events, split into words."""
    path = folder / "events"
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    return [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]


def read_console(folder: Path) -> str:
    """What the firmware printed: through semihosting, then through the board's serial port."""
    paths = (folder / f"{name}.txt" for name in ("semihosting", "uart"))
    return "".join(path.read_text("utf-8", errors="replace") for path in paths if path.exists())


def result(folder: Path, job: Job, request: RunRequest, elf: Elf, core: str) -> RunResult:
    """The result of a finished run.

    Args:
        folder: Where the run left its files.
        job: What was run.
        request: What was asked for.
        elf: The program.
        core: Name of the core.

    Raises:
        RunFailed: A fault, a kernel's status, a time-out, or trouble with the engine.
    """
    events = read_events(folder)
    _judge(events, folder, job, request, elf)
    done = [[int(word) for word in event[1:]] for event in events if event[0] == "D"]
    return RunResult(
        emulator="renode",
        core=core,
        outputs=[
            b"".join(
                (folder / f"out{sample}_{port}.bin").read_bytes()
                for port in range(len(job.outputs))
            )
            for sample in range(job.count)
        ],
        console=read_console(folder),
        instructions=_instructions(events, job),
        stack_bytes=max((stack for _, stack in done), default=0),
        dumps=[
            [_dump(folder, sample, layer, job) for layer in range(len(job.layers))]
            for sample in range(job.dumped)
        ],
    )


def _dump(folder: Path, sample: int, layer: int, job: Job) -> bytes:
    parts = range(len(job.layers[layer]))
    return b"".join((folder / f"dump{sample}_{part}_{layer}.bin").read_bytes() for part in parts)


def _instructions(events: list[list[str]], job: Job) -> NDArray[np.int64]:
    """Counts per sample and layer, less what the call of onnx2mcu_mark itself takes."""
    counts = [int(event[2]) for event in events if event[0] == "M"]
    expected = CALIBRATION + job.count * (len(job.layers) + 1)
    if len(counts) != expected:
        reason = f"{len(counts)} layer marks came, not {expected}"
        raise RunFailed("emulate", "renode", reason, "try --emulator qemu")
    table = np.array(counts[CALIBRATION:], dtype=np.int64)
    table = table.reshape(job.count, len(job.layers) + 1)
    return np.diff(table, axis=1) - (counts[1] - counts[0])


def _judge(events: list[list[str]], folder: Path, job: Job, request: RunRequest, elf: Elf) -> None:
    """Raise what went wrong, if anything did."""
    scene = Scene(elf, request.board, request.model)
    marks: list[int] = []
    samples = 0
    for kind, *words in events:
        if kind == "X":
            raise RunFailed("emulate", "renode", " ".join(words), "try --emulator qemu")
        numbers = [int(word) for word in words]
        layer = marks[-1] if len(marks) > CALIBRATION else None
        if kind == "T":
            raise scene.late(job.timeout_s, samples, numbers[0], layer)
        if kind == "V":
            raise scene.late(job.emulated_s, samples, numbers[0], layer, " of emulated time")
        error = _error(kind, numbers, scene, layer)
        if error is not None:
            raise error
        marks += numbers[:1] if kind == "M" else []
        samples += kind == "D"
    if not events or events[-1][0] != "E":
        raise _engine_failure(folder)


def _error(kind: str, numbers: list[int], scene: Scene, layer: int | None) -> RunFailed | None:
    """The error that an event means; None when it means none."""
    if kind == "F" and numbers[0] == CANARY_FAULT:
        return scene.canary(numbers[1], numbers[2], None if not layer else layer - 1)
    if kind == "F":
        return scene.fault(_fault(numbers), layer)
    if kind == "D" and numbers[0] != 0:
        return scene.status(numbers[0], layer)
    if kind == "W":
        reason = f"the firmware wrote to flash at 0x{numbers[0]:08X}"
        return RunFailed("emulate", scene.symbol(numbers[0]), reason, _QEMU)
    if kind == "U":
        reads, writes, pc, stack = numbers
        overflow = stack < scene.elf.address("__stack_limit")
        return _outside(reads, writes, scene.place(pc, layer), overflow)
    if kind == "E" and any(numbers):
        return _outside(numbers[0], numbers[1], scene.board.name, False)
    return None


def _outside(reads: int, writes: int, where: str, overflow: bool) -> RunFailed:
    reason = f"{reads} reads and {writes} writes where the board has no memory"
    if overflow:
        hint = "convert again with a larger --stack"
        return RunFailed("emulate", where, f"stack overflow: {reason}", hint)
    return RunFailed("emulate", where, reason, _QEMU)


def _fault(record: list[int]) -> Fault:
    exception, _, cfsr, hfsr, mmfar, bfar, pc, lr = record
    found = {"fault": exception, "cfsr": cfsr, "hfsr": hfsr, "mmfar": mmfar, "bfar": bfar}
    if pc:
        found |= {"pc": pc, "lr": lr}
    fault = Fault.of(found)
    assert fault is not None
    return fault


def _engine_failure(folder: Path) -> RunFailed:
    path = folder / "messages.txt"
    lines = path.read_text(errors="replace").split("\n") if path.exists() else []
    told = [line.strip() for line in lines if line.strip()]
    reason = told[-1][:300] if told else "it ended without a word"
    return RunFailed(
        "emulate", "renode", f"the run did not finish: {reason}", "try --emulator qemu"
    )
