"""Arrays in numpy's files, read row by row; only their headers are read before."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import IO, NoReturn

import numpy as np
from numpy.typing import NDArray

from toolchain.errors import InputRefused

Array = NDArray[np.generic]

_DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError)
_AGAIN = "save it again with numpy.savez or numpy.save"


@dataclass(frozen=True, slots=True)
class Source:
    """An array that is read row by row; once matched to an input, its rows are the samples.

    Args:
        where: File, and key within it, for messages.
        shape: Shape of the whole array.
        dtype: Type of its elements.
        rows: Starts over and yields array[i] for each i of the first axis.
    """

    where: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    rows: Callable[[], Iterator[Array]]


def refuse(stage: str, where: str, reason: str, hint: str) -> NoReturn:
    """Refuse data.

    Raises:
        InputRefused: Always.
    """
    raise InputRefused(stage, where, reason, hint)


def members(path: Path, stage: str) -> dict[str, Source]:
    """The arrays of an .npz file by key; only their headers are read.

    Raises:
        InputRefused: The file is damaged, or one of them is none.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
    except _DAMAGED as error:
        refuse(stage, str(path), f"this .npz file is damaged: {error}", _AGAIN)
    keys = {name.removesuffix(".npy"): name for name in names}
    return {
        key: _stored(partial(_open_member, path, name), f"{path}[{key}]", stage)
        for key, name in keys.items()
    }


def stored_file(path: Path, stage: str) -> Source:
    """The array of a .npy file, by its header.

    Raises:
        InputRefused: It is none, or, once its rows are read, it is damaged.
    """
    return _stored(partial(_open, path), str(path), stage)


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _open_member(path: Path, name: str) -> IO[bytes]:
    return zipfile.ZipFile(path).open(name)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Shape, whether the first index runs fastest, and type; the file is left at the data."""
    if np.lib.format.read_magic(file) == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    return np.lib.format.read_array_header_2_0(file)


def _stored(opener: Callable[[], IO[bytes]], where: str, stage: str) -> Source:
    """An array in numpy's format, by its header."""

    def rows() -> Iterator[Array]:
        try:
            with opener() as file:
                if fortran:
                    yield from np.lib.format.read_array(file, allow_pickle=False)
                    return
                _header(file)
                size = prod(shape[1:]) * dtype.itemsize
                for left in reversed(range(shape[0])):
                    data = file.read(size)
                    if not left:
                        file.read(1)  # the checksum is compared at the end of the member
                    if len(data) != size:
                        refuse(stage, where, "the file ends before its data", _AGAIN)
                    yield np.frombuffer(data, dtype).reshape(shape[1:])
        except _DAMAGED as error:
            refuse(stage, where, f"the data cannot be read: {error}", _AGAIN)

    try:
        with opener() as file:
            shape, fortran, dtype = _header(file)
    except _DAMAGED as error:
        refuse(stage, where, f"this is not an array in numpy's format: {error}", _AGAIN)
    return Source(where, shape, dtype, rows)


def shape_text(shape: Sequence[int | str]) -> str:
    """A shape in words."""
    return "[" + ", ".join(str(n) for n in shape) + "]"
