"""What is installed of all that the tool can use, and how to get the rest."""

import platform
import re
import subprocess
import sys
from dataclasses import dataclass

from toolchain.run import block_plugin
from toolchain.run.build import COMPILER, INSTALL, find_tool
from toolchain.run.engines import engines

_OLDEST_PYTHON = (3, 11)
_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Check:
    """One line of the doctor.

    Attributes:
        name: What was looked for.
        ok: Whether it can be used.
        detail: Version and place, or what is wrong.
        hint: How to get it; "" when it is there.
        needed: Whether the tool is of no use without it.
    """

    name: str
    ok: bool
    detail: str
    hint: str = ""
    needed: bool = False


def doctor() -> tuple[Check, ...]:
    """Look at Python, the build tools and the emulators."""
    return (_python(), *(_program(name) for name in INSTALL), *_emulators())


def _python() -> Check:
    found = platform.python_version()
    oldest = ".".join(map(str, _OLDEST_PYTHON))
    ok = sys.version_info >= _OLDEST_PYTHON
    hint = "" if ok else f"use Python {oldest} or later"
    return Check("python", ok, f"{found} ({sys.executable})", hint, needed=True)


def _program(name: str) -> Check:
    path = find_tool(name)
    if path is None:
        return Check(name, False, "not installed", INSTALL[name], needed=True)
    if name == COMPILER and not _output([path, "-print-file-name=nano.specs"]).startswith("/"):
        detail = f"{path}: its C library is missing (nano.specs)"
        return Check(name, False, detail, INSTALL[name], needed=True)
    return Check(name, True, f"{_version(path)} ({path})", needed=True)


def _emulators() -> tuple[Check, ...]:
    checks = []
    for engine in engines().values():
        reason = engine.missing("cortex-m4")
        detail, _, hint = (reason or "").partition(": ")
        if reason is None:
            program = find_tool("qemu-system-arm") if engine.name == "qemu" else None
            detail = f"{_version(program)} ({program})" if program else "ready"
        checks.append(Check(engine.name, reason is None, detail, hint))
    reason = block_plugin.missing()
    detail, _, hint = (reason or "QEMU counts functions for `profile`").partition(": ")
    return (*checks, Check("qemu plugins", reason is None, detail, hint))


def _version(path: str) -> str:
    found = re.search(r"\d+(\.\d+)+", _output([path, "--version"]))
    return found[0] if found else "unknown version"


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
