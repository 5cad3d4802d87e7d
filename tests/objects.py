"""Objects of kernels for the host, compiled once in a run of the tests."""

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

shared: Path | None = None
"""Where they are kept; a fixture sets it. The processes of one run share it."""


def object_of(source: Path, compiler: Sequence[str], folder: Path | None = None) -> Path:
    """The object of a source file that does not change while tests run.

    Args:
        source: The file.
        compiler: Command with all options but -c, -o and the file.
        folder: Where it is kept when not in the one for all.
    """
    variant = hashlib.sha256("\n".join([str(source), *compiler]).encode()).hexdigest()[:16]
    kept = folder or shared
    assert kept is not None
    target = kept / f"{source.stem}-{variant}.o"
    if not target.exists():
        partial = target.with_suffix(f".{os.getpid()}")
        command = [*compiler, "-c", str(source), "-o", str(partial)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        partial.replace(target)
    return target
