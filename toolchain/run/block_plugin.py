"""Counts of executed blocks from QEMU, through a small TCG plugin that is compiled when needed."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from toolchain.emit.machines import machine_for
from toolchain.errors import RunFailed
from toolchain.resources import TEMPLATES
from toolchain.run.elf import Elf
from toolchain.run.emulator import MARK, RunRequest
from toolchain.run.function_counts import BlockCount, phase_number
from toolchain.run.owners import owners
from toolchain.run.qemu import PROGRAM, command

SOURCE = TEMPLATES / "qemu" / "block_counts.c"
_COMPILERS = ("cc", "gcc", "clang")
_OPTIONS = ("-std=c11", "-D_DEFAULT_SOURCE", "-O2", "-shared", "-fPIC", "-fvisibility=hidden")
NEWEST = 6
"""The plugin calls nothing that changed in versions 1 to 6 of the interface (version 5: QEMU 10.1);
in 7, callbacks have other parameters. But a plugin must name a version that QEMU takes."""
_SECOND_SINCE = (9, 0)
_REFUSED = re.compile(r"supports only (?:a minimum|up to) version (?:of )?(\d+)")
"""What QEMU says to a version that it does not take."""
_TIMEOUT_S = 60.0


class NoCounts(RunFailed):
    """The plugin is no use here: QEMU does not take it, or it does not compile."""


def missing() -> str | None:
    """Why QEMU cannot count functions here, one line with the remedy; None when it can."""
    qemu = shutil.which(PROGRAM)
    if qemu is None:
        return f"{PROGRAM} is not installed: sudo apt install qemu-system-arm"
    if _compiler() is None:
        return "no C compiler for this computer: sudo apt install gcc"
    if "-plugin" not in _output([qemu, "-help"]):
        return f"{qemu} was built without plugins: Unicorn counts functions instead"
    return None


def count_blocks(request: RunRequest) -> list[BlockCount]:
    """Run the first sample and count every block by phase.

    Args:
        request: The program (`BuildResult.emulation`) and its samples.

    Raises:
        NoCounts: The plugin did not compile, was not taken, or wrote nothing.
    """
    reason = missing()
    if reason:
        raise NoCounts("profile", PROGRAM, reason)
    elf = Elf(request.elf)
    interface, tried, trouble = _by_version(), set[int](), ""
    while interface not in tried and interface <= NEWEST:
        tried.add(interface)
        with tempfile.TemporaryDirectory(prefix="onnx2mcu-") as name:
            folder = Path(name)
            plugin = compile_plugin(folder, interface)
            trouble = _run(folder, plugin, elf, request)
            if not trouble:
                return _read(folder / "blocks.txt")
        refused = _REFUSED.search(trouble)
        interface = int(refused[1]) if refused else interface
    hint = "try --emulator unicorn"
    raise NoCounts("profile", PROGRAM, f"no counts: {trouble or 'no plugin'}", hint)


def compile_plugin(folder: Path, interface: int) -> Path:
    """Compile the plugin for a version of the interface; returns the library.

    Raises:
        NoCounts: It does not compile.
    """
    compiler, target = _compiler(), folder / "block_counts.so"
    assert compiler is not None  # missing() has looked
    words = [compiler, *_OPTIONS, f"-DPLUGIN_API={interface}", "-o", str(target), str(SOURCE)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise NoCounts("profile", compiler, f"the plugin does not compile: {lines[0]}")
    return target


def _run(folder: Path, plugin: Path, elf: Elf, request: RunRequest) -> str:
    """One inference with the plugin; returns what went wrong, "" when nothing did."""
    (folder / "in.bin").write_bytes(request.samples[0])
    words = command(machine_for(request.board), elf.path, 1, 0)
    at = words.index("-icount")
    del words[at : at + 2]  # its timer is not read, and it would cut blocks in two
    code = (f"{o.start:x} {o.end:x} {o.phase}\n" for o in owners(elf, request.model))
    (folder / "owners.txt").write_text("".join(code), encoding="utf-8")
    marks = phase_number(request) - 1
    files = "out=blocks.txt,owners=owners.txt"
    words += ["-plugin", f"{plugin},{files},mark={elf.address(MARK)},marks={marks}"]
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=request.timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"still running after {request.timeout_s:g} s"
    lines = [line for line in done.stderr.splitlines() if "plugin" in line or "error" in line]
    if done.returncode != 0 or not (folder / "blocks.txt").exists():
        return lines[-1] if lines else f"it ended with code {done.returncode}"
    return ""


def _read(path: Path) -> list[BlockCount]:
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return [
        BlockCount(int(a, 16), int(b), int(phase), int(n), (int(c, 16), int(d)))
        for a, b, phase, n, c, d in rows
    ]


def _compiler() -> str | None:
    return next((path for name in _COMPILERS if (path := shutil.which(name))), None)


def _by_version() -> int:
    """The version of the interface to begin with; QEMU 8.2.4 takes the second one, too."""
    found = re.search(r"version (\d+)\.(\d+)", _output([PROGRAM, "--version"]))
    newer = found is not None and (int(found[1]), int(found[2])) >= _SECOND_SINCE
    return 2 if newer else 1


def _output(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    return done.stdout
