"""One build of a project at a time: two that share a folder would link each other's halves."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from toolchain.errors import InputRefused

LOCK = "onnx2mcu.lock"
"""Name of the file, which is locked while a build runs and stays afterwards."""

if sys.platform == "win32":
    import msvcrt

    def _acquire(number: int) -> None:
        while True:
            with suppress(OSError):  # it gives up after ten seconds
                msvcrt.locking(number, msvcrt.LK_LOCK, 1)
                return

else:
    import fcntl

    def _acquire(number: int) -> None:
        with suppress(OSError):  # a file system without locks: as if alone
            fcntl.flock(number, fcntl.LOCK_EX)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a build folder, which is made if it is not there; waits for other processes.

    Raises:
        InputRefused: Nothing can be written there.
    """
    try:
        folder.mkdir(exist_ok=True)
        stream = (folder / LOCK).open("ab")
    except OSError as error:
        raise InputRefused(
            "build",
            str(folder),
            f"cannot be written: {error.strerror}",
            "copy the project to a folder of yours, or change its permissions",
        ) from error
    with stream:
        _acquire(stream.fileno())
        yield
