"""Operators side by side in the emulator: of their project, only the program that runs there."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from toolchain.board import Board
from toolchain.emit import FirmwareModel
from toolchain.run import RunRequest, RunResult, qemu
from toolchain.run.build import find_tool
from toolchain.run.qemu import Qemu


def run_in_emulator(
    project: Path,
    board: Board,
    firmware: FirmwareModel,
    samples: Sequence[bytes],
    dump_samples: int = 0,
) -> RunResult:
    """Compile the harness of a generated project and run it on samples.

    The example program and the harness for boards are built by the tests of whole models.

    Args:
        project: The folder.
        board: Its board.
        firmware: What it holds.
        samples: Input codes.
        dump_samples: Of how many samples every layer is wanted.
    """
    build = project / "build"
    _cmake("-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={find_tool('ninja')}", "-S", project, "-B", build)
    _cmake("--build", build, "--target", "emulation")
    request = RunRequest(build / "emulation.elf", board, firmware, samples, dump_samples)
    with pytest.MonkeyPatch.context() as patch:
        run_once(patch)
        return Qemu().run(request)


def run_once(patch: pytest.MonkeyPatch) -> None:
    """Short runs are made twice for exact counts; where only bytes are compared, one is enough."""
    patch.setattr(qemu, "_REPEAT_BELOW_S", 0.0)


def _cmake(*arguments: str | Path) -> None:
    cmake = find_tool("cmake")
    assert cmake is not None
    done = subprocess.run([cmake, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
