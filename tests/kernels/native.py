"""Builds C kernels for the host and calls them through ctypes, with canaries around outputs."""

import ctypes
import subprocess
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_int32
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.objects import object_of

CONTEXT = object()
CANARY = 0x5A
MARGIN = 64
SUCCESS = 0
ARGUMENT_ERROR = -1


class Tile(Structure):
    _fields_ = (("w", c_int32), ("h", c_int32))


class Context(Structure):
    _fields_ = (("buf", ctypes.c_void_p), ("size", c_int32))


class Dims(Structure):
    _fields_ = (("n", c_int32), ("h", c_int32), ("w", c_int32), ("c", c_int32))


class Activation(Structure):
    _fields_ = (("min", c_int32), ("max", c_int32))


class PerChannel(Structure):
    _fields_ = (("multiplier", POINTER(c_int32)), ("shift", POINTER(c_int32)))


class PerTensor(Structure):
    _fields_ = (("multiplier", c_int32), ("shift", c_int32))


_WINDOW = (("stride", Tile), ("padding", Tile))
_OFFSETS = (("input_offset", c_int32), ("output_offset", c_int32))


class ConvParams(Structure):
    _fields_ = (*_OFFSETS, *_WINDOW, ("dilation", Tile), ("activation", Activation))


class DepthwiseParams(Structure):
    _fields_ = (
        *_OFFSETS,
        ("ch_mult", c_int32),
        *_WINDOW,
        ("dilation", Tile),
        ("activation", Activation),
    )


class PoolParams(Structure):
    _fields_ = (*_WINDOW, ("activation", Activation))


class FcParams(Structure):
    _fields_ = (
        ("input_offset", c_int32),
        ("filter_offset", c_int32),
        ("output_offset", c_int32),
        ("activation", Activation),
    )


class AvgpoolParams(Structure):
    _fields_ = (
        *_OFFSETS,
        *_WINDOW,
        ("padding_end", Tile),
        ("activation", Activation),
        ("count_include_pad", c_int32),
        ("table_size", c_int32),
        ("multipliers", POINTER(c_int32)),
        ("shifts", POINTER(c_int32)),
    )


class LogSoftmaxParams(Structure):
    _fields_ = (
        ("exp_table", POINTER(ctypes.c_uint32)),
        ("diff_multiplier", c_int32),
        ("log_multiplier", c_int32),
        ("shift", c_int32),
        ("output_offset", c_int32),
        ("activation", Activation),
    )


class ResizeLinearParams(Structure):
    _fields_ = (
        ("outer", c_int32),
        ("height", c_int32),
        ("middle", c_int32),
        ("width", c_int32),
        ("inner", c_int32),
        ("output_height", c_int32),
        ("output_width", c_int32),
        ("rows", POINTER(c_int32)),
        ("columns", POINTER(c_int32)),
    )


def tile(height_width: Sequence[int]) -> Tile:
    """The C tile of a (height, width) pair."""
    return Tile(w=height_width[1], h=height_width[0])


def ints(values: Any) -> Any:
    """A C array of int32."""
    flat = [int(v) for v in np.ravel(values)]
    return (c_int32 * len(flat))(*flat)


def build(
    sources: Sequence[Path], includes: Sequence[Path], target: Path, flags: Sequence[str]
) -> None:
    """Compiles the sources, each once for all workers, and links one shared object."""
    compiler = ["gcc", "-fPIC", "-std=gnu11", *flags, *(f"-I{folder}" for folder in includes)]
    objects = [object_of(source, compiler) for source in sources]
    subprocess.run(
        [*compiler, "-shared", "-Wl,-Bsymbolic", "-o", str(target), *map(str, objects)], check=True
    )


class Kernels:
    """The functions of one shared object."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def call(self, name: str, *arguments: Any, returns: Any = c_int32) -> int:
        """Calls a function; structures go by reference, arrays as pointers, None as NULL."""
        function = getattr(self._library, name)
        function.restype = returns
        return function(*[_convert(a) for a in arguments])

    def run(
        self,
        name: str,
        *arguments: Any,
        size: int,
        scratch: int | None = None,
        returns: Any = c_int32,
    ) -> NDArray[np.int8]:
        """Calls a kernel whose Ellipsis argument is the output, and returns its codes.

        Args:
            name: Function.
            arguments: As for call; Ellipsis stands for the output, CONTEXT for a context.
            size: Codes of the output.
            scratch: Bytes the context gets; None gives it NULL.
            returns: ctypes type of the result; None for void.

        Raises:
            AssertionError: The status is not success, or something wrote outside output or scratch.
        """
        output, scratch_memory = guarded(size), guarded(scratch or 0)
        context = Context(buf=None, size=0)
        if scratch is not None:
            context = Context(buf=scratch_memory.ctypes.data + MARGIN, size=scratch)
        places = {id(Ellipsis): output[MARGIN:], id(CONTEXT): context}
        status = self.call(name, *[places.get(id(a), a) for a in arguments], returns=returns)
        assert status in (SUCCESS, None)
        assert_intact(output, size)
        assert_intact(scratch_memory, scratch or 0)
        return output[MARGIN : MARGIN + size].copy()


def guarded(size: int) -> NDArray[np.int8]:
    """Memory of size bytes with MARGIN canary bytes on both sides; the middle is filled too."""
    return np.full(size + 2 * MARGIN, CANARY, np.int8)


def assert_intact(memory: NDArray[np.int8], size: int) -> None:
    """Fails when a canary was overwritten."""
    assert (memory[:MARGIN] == CANARY).all(), "wrote before the buffer"
    assert (memory[MARGIN + size :] == CANARY).all(), "wrote after the buffer"


def _convert(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return ctypes.c_void_p(argument.ctypes.data)
    if isinstance(argument, Structure):
        return ctypes.byref(argument)
    return argument
