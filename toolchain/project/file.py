"""Files that are there as a whole or not at all."""

import os
import tempfile
from pathlib import Path

from toolchain.errors import InputRefused


def umask() -> int:
    """The permissions that new files of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def require_free(path: Path, stage: str, *, force: bool) -> None:
    """Refuse to write over something.

    Raises:
        InputRefused: The path is a folder, or, without `force`, a file.
    """
    if path.is_dir():
        raise InputRefused(stage, str(path), "is a folder", "name a file")
    if path.exists() and not force:
        hint = "choose another name, or replace it with --force"
        raise InputRefused(stage, str(path), "exists already", hint)


def obstacle(path: Path, error: OSError) -> str:
    """Why a file or folder cannot be made: a file stands where a folder has to be, or as told."""
    parents = (parent for parent in path.absolute().parents if parent.exists())
    nearest = next(parents, None)
    if nearest is not None and not nearest.is_dir():
        return f"{nearest} is a file, not a folder"
    return f"cannot be written: {error.strerror}"


def write_file(path: Path, data: bytes, stage: str, hint: str = "choose another place") -> None:
    """Write a file under another name in its folder, then give it its own.

    Raises:
        InputRefused: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).chmod(0o666 & ~umask())
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise InputRefused(stage, str(path), obstacle(path, error), hint) from error
