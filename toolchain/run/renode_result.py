"""What a Renode run left in its folder, as a result or as the error that stopped it."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolchain.errors import RunFailed
from toolchain.run.console import Fault, explain
from toolchain.run.elf import Elf
from toolchain.run.emulator import RunRequest, RunResult
from toolchain.run.renode_job import Job

FINAL = ("E", "F", "T", "X")
"""Events after which nothing follows; `toolchain.run.renode_session` lists them all."""
_CALIBRATION = 2
"""The first marks have nothing between them."""


def read_events(folder: Path) -> list[list[str]]:
    """Complete lines of the events, split into words."""
    path = folder / "events"
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    return [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]


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
        console="",
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
    expected = _CALIBRATION + job.count * (len(job.layers) + 1)
    if len(counts) != expected:
        reason = f"{len(counts)} layer marks came, not {expected}"
        raise RunFailed("emulate", "renode", reason, "try --emulator qemu")
    table = np.array(counts[_CALIBRATION:], dtype=np.int64)
    table = table.reshape(job.count, len(job.layers) + 1)
    return np.diff(table, axis=1) - (counts[1] - counts[0])


def _judge(events: list[list[str]], folder: Path, job: Job, request: RunRequest, elf: Elf) -> None:
    """Raise what went wrong, if anything did."""
    for kind, *words in events:
        if kind == "F":
            raise explain(_fault([int(word) for word in words]), elf, request.board)
        if kind == "D" and int(words[0]) != 0:
            status = int(words[0]) - (int(words[0]) >> 31 << 32)
            raise RunFailed("emulate", elf.path.name, f"the model returned status {status}")
        if kind == "W":
            place = elf.symbol_at(int(words[0])) or "flash"
            reason = f"the firmware wrote to flash at 0x{int(words[0]):08X}"
            raise RunFailed("emulate", place, reason, "run it in QEMU to see the instruction")
        if kind == "T":
            place = elf.symbol_at(int(words[0]) & ~1) or f"0x{int(words[0]):08X}"
            sample = sum(event[0] == "D" for event in events)
            reason = f"still running after {job.timeout_s:g} s, in sample {sample}"
            raise RunFailed("emulate", place, reason, "take fewer samples or more time")
        if kind == "X":
            raise RunFailed("emulate", "renode", " ".join(words), "try --emulator qemu")
    if not events or events[-1][0] != "E":
        raise _engine_failure(folder)
    reads, writes = (int(word) for word in events[-1][1:])
    if reads or writes:
        reason = f"{reads} reads and {writes} writes where the board has no memory"
        raise RunFailed("emulate", request.board.name, reason, "stack overflow or arena overrun?")


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
