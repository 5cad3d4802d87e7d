"""Compile a generated project with CMake and Ninja."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from toolchain.board import Board
from toolchain.errors import InputRefused, RunFailed
from toolchain.run.elf import Elf
from toolchain.run.lock import LOCK, locked

COMPILER = "arm-none-eabi-gcc"
INSTALL = {
    COMPILER: "sudo apt install gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "cmake": "pip install cmake",
    "ninja": "pip install ninja",
}
"""Every tool of a build, and the command that installs it."""

_SHOWN_LINES = 8
_TELLING = re.compile(r"error:|undefined reference|overflowed|will not fit|CMake Error|fatal:")


@dataclass(frozen=True)
class BuildResult:
    """The programs of a project.

    Attributes:
        directory: Folder of the build.
        firmware: The example program at the board's addresses: the one to measure and to flash.
        emulation: The harness for QEMU and Unicorn.
        hooks: The harness for Renode, at the board's addresses.
        log: What the compiler printed.
    """

    directory: Path
    firmware: Path
    emulation: Path
    hooks: Path
    log: str


class DoesNotFit(RunFailed):
    """A program is too large for a memory of the board (exit code 1)."""


def find_tool(name: str) -> str | None:
    """Path of a tool: beside this Python (a virtual environment's), else from PATH."""
    beside = Path(sys.executable).parent
    return shutil.which(name, path=str(beside)) or shutil.which(name)


def require_tools() -> None:
    """Refuse when a build tool is missing.

    Raises:
        InputRefused: It names the tool and the command that installs it.
    """
    for name, command in INSTALL.items():
        if find_tool(name) is None:
            raise InputRefused("build", name, "not installed", command)


def build(
    project_dir: Path,
    board: Board | None = None,
    timeout_s: float = 600.0,
    *,
    poisoned: bool = False,
) -> BuildResult:
    """Configure and compile.

    Args:
        project_dir: Folder with the generated CMakeLists.txt.
        board: When given, the programs are checked to hold only instructions of its core.
        timeout_s: Wall time for the compiler, in seconds.
        poisoned: The harnesses overwrite dead bytes of the arena before every layer.

    Raises:
        InputRefused: A tool is missing, the folder is no generated project, or is read-only.
        RunFailed: The project does not compile, link or fit.
    """
    require_tools()
    if not (project_dir / "CMakeLists.txt").is_file():
        reason = "no CMakeLists.txt: not a generated project"
        raise InputRefused("build", str(project_dir), reason, "make one with `onnx2mcu convert`")
    folder = project_dir / "build"
    suffix = "_poisoned" if poisoned else ""
    targets = {"firmware": "firmware", **{name: name + suffix for name in ("emulation", "hooks")}}
    wanted = ["--target", *targets.values()] if poisoned else []
    ninja = f"-DCMAKE_MAKE_PROGRAM={find_tool('ninja')}"
    configure = ["-G", "Ninja", ninja, "-S", str(project_dir), "-B", str(folder)]
    with locked(folder):
        _forget_moved_build(project_dir, folder)
        log = _run(project_dir, configure, timeout_s)
        log += _run(project_dir, ["--build", str(folder), *wanted], timeout_s)
    programs = {name: folder / f"{target}.elf" for name, target in targets.items()}
    if board is not None:
        for path in programs.values():
            Elf(path).check_architecture(board)
    return BuildResult(folder, log=log, **programs)


def _forget_moved_build(project_dir: Path, folder: Path) -> None:
    """CMake refuses a build folder that was made elsewhere: a copied project starts anew."""
    cache = folder / "CMakeCache.txt"
    if cache.is_file():
        source = f"CMAKE_HOME_DIRECTORY:INTERNAL={project_dir.resolve().as_posix()}\n"
        if source not in cache.read_text(encoding="utf-8", errors="replace"):
            for path in folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
                elif path.name != LOCK:
                    path.unlink()


def _run(project_dir: Path, arguments: list[str], timeout_s: float) -> str:
    cmake = find_tool("cmake")
    assert cmake is not None  # build() has looked
    try:
        done = subprocess.run(
            [cmake, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=timeout_s,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        reason = f"the compiler took longer than {timeout_s:g} s"
        raise RunFailed("build", str(project_dir), reason) from error
    if done.returncode != 0:
        raise _failure(project_dir, done.stdout)
    return done.stdout


def _failure(project_dir: Path, log: str) -> RunFailed:
    """The first lines that say something, of a log of hundreds."""
    lines = list(dict.fromkeys(line.strip() for line in log.splitlines()))
    telling = [line for line in lines if _TELLING.search(line)] or [line for line in lines if line]
    overflow = re.search(r"region `(\w+)' overflowed by (\d+) bytes", log)
    if overflow:
        memory = overflow[1]
        reason = f"the program needs {overflow[2]} bytes more {memory} than the board has"
        known = {"RAM": "a smaller model or --stack", "FLASH": "a smaller model"}
        hint = known.get(memory, "another memory")
        return DoesNotFit("build", str(project_dir), reason, f"choose {hint}, or a larger board")
    shown = telling[:_SHOWN_LINES]
    if len(telling) > _SHOWN_LINES:
        shown.append(f"... and {len(telling) - _SHOWN_LINES} more")
    hint = "were generated files changed, or taken away? convert again to have them as they were"
    if "cmsis_compiler.h" in log:
        hint = (
            "this copy of CMSIS-NN needs the headers of CMSIS-Core: put them in ../Core/Include "
            "beside it, name them with cmake -DCMSIS_CORE_DIR=..., or take version 4.1 or later"
        )
    return RunFailed("build", str(project_dir), "it does not compile:\n" + "\n".join(shown), hint)
