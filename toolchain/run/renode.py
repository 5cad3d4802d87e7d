"""Renode: through pyrenode3, else through the `renode` executable; always in a child process.

What is taken from its sources and was not observed is listed in `toolchain.run.renode_assumptions`.
"""

import contextlib
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from toolchain.emit.render import render
from toolchain.emit.renode import CPU_TYPES, harness_memory, platform
from toolchain.errors import RunFailed
from toolchain.run.build import BuildResult
from toolchain.run.elf import Elf
from toolchain.run.emulator import RunRequest, RunResult
from toolchain.run.renode_job import Job, job_of
from toolchain.run.renode_profile import per_function
from toolchain.run.renode_result import FINAL, read_events, result
from toolchain.run.renode_session import OLDEST_NAME, old_version

_START_UP_S = 60.0
"""Wall time granted for loading .NET and Renode, beyond the time-out of the run."""
_POLL_S = 0.05
_GRACE_S = 2.0
OPTIONS = ("--console", "--disable-gui", "--plain", "--hide-log", "--config")
"""Of the executable; the path of a configuration file and the script follow."""
INSTALL = (
    "pip install 'pyrenode3 @ git+https://github.com/antmicro/pyrenode3.git', "
    "then set PYRENODE_PKG to the archive of a portable Renode, or PYRENODE_BUILD_DIR to one that "
    "was built; PYRENODE_BIN works with single-file portables only; PYRENODE_RUNTIME is coreclr "
    "unless you set it"
)


class Renode:
    """The Renode engine."""

    name = "renode"

    def missing(self, cpu: str) -> str | None:  # noqa: ARG002 - every core is modelled
        """Why Renode cannot be used; None when it can."""
        installed = importlib.util.find_spec("pyrenode3") is not None
        reason = _pyrenode3_trouble() if installed else None
        if installed and reason is None:
            return None
        program = executable()
        if program is not None:
            return _too_old(program)
        if not installed:
            return f"neither pyrenode3 nor renode is installed: {INSTALL}"
        return f"pyrenode3 cannot load Renode ({reason}): {INSTALL}"

    def elf(self, build: BuildResult) -> Path:
        """The harness that is linked to the board's own addresses."""
        return build.hooks

    def run(self, request: RunRequest) -> RunResult:
        """Run all samples; see `toolchain.run.emulator.Emulator`."""
        with self._ran(request) as (folder, job, elf):
            return result(folder, job, request, elf, CPU_TYPES[request.board.cpu])

    def count_functions(self, request: RunRequest) -> list[Counter[str]]:
        """Instructions of every function, per layer, as Renode's profiler books them.

        It goes by calls and returns: what a function that is jumped to executes counts as its
        caller's. The sums are those of `run`.

        Args:
            request: The harness with hooks, and one sample.

        Raises:
            RunFailed: See `run`; or the profiler wrote something else than collapsed stacks.
        """
        with self._ran(request, profile=True) as (folder, job, elf):
            counts = result(folder, job, request, elf, "").instructions[0]
            return per_function(folder, counts, request.model)

    @contextlib.contextmanager
    def _ran(self, request: RunRequest, profile: bool = False) -> Iterator[tuple[Path, Job, Elf]]:
        """The folder of a run that is over, until it is left."""
        reason = self.missing(request.board.cpu)
        if reason:
            raise RunFailed("emulate", self.name, reason)
        elf = Elf(request.elf)
        elf.check_architecture(request.board)
        job = job_of(request, elf, profile)
        with tempfile.TemporaryDirectory(prefix="onnx2mcu-") as name:
            folder = Path(name)
            _prepare(folder, job, request)
            if importlib.util.find_spec("pyrenode3") and _pyrenode3_trouble() is None:
                _wait(folder, _start_session(folder), job)
            else:
                _wait(folder, _start_executable(folder), job)
            yield folder, job, elf


def script(folder: Path, job: Job) -> str:
    """The Monitor's script (.resc) that runs a job without pyrenode3."""
    return render(
        "renode/run.resc.j2",
        folder=folder.as_posix(),
        job=job,
        virtual_seconds=job.emulated_s * (job.count + 1),
    )


@functools.cache
def _pyrenode3_trouble() -> str | None:
    """Why pyrenode3 does not load, found out in a process of its own."""
    done = run_module("toolchain.run.renode_session", timeout_s=_START_UP_S)
    if done is None:
        return f"it did not load within {_START_UP_S:g} s"
    if done.returncode == 0:
        return None
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[-1] if lines else f"it ended with code {done.returncode}"


@functools.cache
def _too_old(program: str) -> str | None:
    """Why an executable cannot be used."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_START_UP_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = old_version(done.stdout)
    return f"{program} is version {found}: install Renode {OLDEST_NAME} or later" if found else None


def run_module(
    module: str, *arguments: str, timeout_s: float
) -> subprocess.CompletedProcess[str] | None:
    """Run a module in a process of its own, which may load .NET; None when it takes too long."""
    try:
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def executable() -> str | None:
    """Path of the `renode` program."""
    return shutil.which("renode")


def environment() -> dict[str, str]:
    """The environment of a child that imports the same packages as this process."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _prepare(folder: Path, job: Job, request: RunRequest) -> None:
    (folder / "job.json").write_bytes(msgspec.json.encode(job))
    text = platform(request.board, (harness_memory(request.board),))
    (folder / "board.repl").write_text(text, encoding="utf-8")
    (folder / "run.resc").write_text(script(folder, job), encoding="utf-8")
    for index, sample in enumerate(request.samples):
        start = 0
        for number, port in enumerate(job.inputs):
            path = folder / f"in{index}_{number}.bin"
            path.write_bytes(sample[start : start + port.bytes])
            start += port.bytes


def _start_session(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "toolchain.run.renode_session", str(folder)]
    return _start(folder, command)


def _start_executable(folder: Path) -> subprocess.Popen[bytes]:
    program = executable()
    assert program is not None  # missing() has looked
    return _start(folder, [program, *OPTIONS, str(folder / "config"), str(folder / "run.resc")])


def _start(folder: Path, command: list[str]) -> subprocess.Popen[bytes]:
    with (folder / "messages.txt").open("wb") as stream:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env={**environment(), "RENODE_CI_MODE": "YES"},
        )


def _wait(folder: Path, process: subprocess.Popen[bytes], job: Job) -> None:
    """Until a final event or the end of the process or of the time; leaves no process behind."""
    end = time.monotonic() + job.timeout_s + _START_UP_S
    try:
        while process.poll() is None and time.monotonic() < end:
            events = read_events(folder)
            if events and events[-1][0] in FINAL:
                break
            time.sleep(_POLL_S)
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let it finish by itself, then ask, then insist."""
    for signal in (None, process.terminate, process.kill):
        if signal is not None:
            signal()
        try:
            process.wait(_GRACE_S)
            return
        except subprocess.TimeoutExpired:
            continue
