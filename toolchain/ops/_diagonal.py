"""How far window operators may write their output over the input that they still read.

Output pixels are produced in the order of their bytes, so the input behind the last window is dead
and the output may grow over it. The distances here are exact: with one byte less, some byte is
overwritten before its last read.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Site
from toolchain.ops._windows import Window

Shape4 = tuple[int, ...]

NEVER = 1 << 60


class Reads(Enum):
    """When a kernel reads the window of an output pixel."""

    BEFORE = auto()
    """Before it writes the first channel of any pixel of the group computed together."""
    ALL_CHANNELS = auto()
    """Again for every output channel, all input channels."""
    OWN_CHANNEL = auto()
    """Again for every output channel c, only input channel c // (outputs per input channel)."""


def window_distance(
    window: Window,
    x: Shape4,
    y: Shape4,
    pixels_together: int = 1,
    reads: Reads = Reads.BEFORE,
) -> int:
    """Bytes by which the output must begin before the input, at least.

    A kernel that does not keep to one size of groups (the last pixel of an odd row by itself) may
    ask for groups of one pixel: that is never less than what larger groups need.

    Args:
        window: Geometry.
        x: Shape of the input, [N, H, W, C].
        y: Shape of the output, [N, OH, OW, O].
        pixels_together: Output pixels computed together, counted through all rows and images; 1
            unless `reads` is BEFORE.
        reads: When the window of a pixel is read.
    """
    starts = _first_bytes(window, x, y)
    # The first byte that is read by any pixel from each one on.
    later = np.minimum.accumulate(starts[::-1])[::-1]
    pixels, channels = len(starts), y[3]
    finished = np.arange(pixels_together, pixels, pixels_together, dtype=np.int64)
    needs = [-int(np.prod(x)), *(finished * channels - later[finished])]
    if reads is not Reads.BEFORE and channels > 1:
        written = channels - 1
        if reads is Reads.OWN_CHANNEL:
            # After k channels the lowest byte that is read again is that of channel k // repeats.
            repeats = channels // x[3]
            written = max(k - k // repeats for k in range(1, channels))
        needs += [*(np.arange(pixels) * channels + written - starts)]
    return int(max(needs))


class Group(NamedTuple):
    """Neighbouring output pixels that a kernel computes together, counted through rows and images.

    Args:
        first: The first pixel.
        end: The one after the last.
        again: Channels of each pixel that are written when the windows are read for the last time;
            0: all reads come first.
    """

    first: int
    end: int
    again: int = 0


def groups_of(pixels: range, size: int, again: int = 0) -> list[Group]:
    """Groups of `size` pixels one after the other; the last one has what is left."""
    return [
        Group(first, min(first + size, pixels.stop), again)
        for first in range(pixels.start, pixels.stop, size)
    ]


def grouped_distance(window: Window, x: Shape4, y: Shape4, groups: Iterable[Group]) -> int:
    """The distance of a kernel that reads all channels of the windows of a group.

    Args:
        window: Geometry.
        x: Shape of the input, [N, H, W, C].
        y: Shape of the output, [N, OH, OW, O].
        groups: In their order, which is that of the pixels; they may overlap: such pixels are
            computed again.
    """
    starts, channels = _first_bytes(window, x, y), y[3]
    needs, later = -int(np.prod(x)), NEVER
    for group, before in _backwards(list(groups)):
        low = int(starts[group.first : group.end].min())
        needs = max(needs, group.end * channels - later)
        if group.again:
            last = (group.end - 1) * channels + group.again
            needs = max(needs, max(last, before * channels) - low)
        later = min(later, low)
    return needs


def _backwards(groups: list[Group]) -> Iterable[tuple[Group, int]]:
    """Each group, the last one first, with the end of the one before it."""
    ends = [0, *(group.end for group in groups[:-1])]
    return zip(reversed(groups), reversed(ends), strict=True)


def grouped_overlap(groups: Callable[[Site], Iterable[Group]]) -> Callable[[Site], dict[int, int]]:
    """Overlap of a convolution or fully connected layer with its input 0, for Kernel.overlap."""

    def overlap(site: Site) -> dict[int, int]:
        return {0: grouped_distance(*pixels_of(site), groups(site))}

    return overlap


def pixels_of(site: Site) -> tuple[Window, Shape4, Shape4]:
    """Window, input and output; rows of a fully connected layer are the pixels of a line."""
    x, y = site.shape(site.op.x), site.shape(site.op.y)
    window = getattr(site.op, "window", None)
    if window is not None:
        return window, x, y
    rows = int(np.prod(x[:-1]))
    return Window((1, 1)), (1, 1, rows, x[-1]), (1, 1, rows, y[-1])


def _first_bytes(window: Window, x: Shape4, y: Shape4) -> NDArray[np.int64]:
    """The first input byte in the window of every output pixel; NEVER for a window of padding."""
    _, height, width, channels = x
    row = _first_inside(window, 0, y[1], height)
    column = _first_inside(window, 1, y[2], width)
    image = np.arange(x[0], dtype=np.int64)[:, None, None] * height * width
    outside = (row[:, None] >= height) | (column[None] >= width)
    cells = image + row[:, None] * width + column[None]
    return np.where(outside, NEVER, cells * channels).reshape(-1)


def _first_inside(window: Window, axis: int, outputs: int, size: int) -> NDArray[np.int64]:
    """Row or column of the first tap inside the image; `size` when all are in the padding."""
    starts = np.arange(outputs, dtype=np.int64) * window.stride[axis] - window.pads[axis]
    taps = starts[:, None] + np.arange(window.kernel[axis]) * window.dilation[axis]
    return np.asarray(np.where((taps >= 0) & (taps < size), taps, size).min(axis=1))


def window_overlap(
    reads: Reads, *, arm_function: bool = False, pixels_together: int = 1
) -> Callable[[Site], Mapping[int, int]]:
    """Overlap of a window operator with its input 0, for Kernel.overlap.

    Args:
        reads: When the window of a pixel is read.
        arm_function: The function is Arm's own when Arm's library is linked, whose order is not
            known: no overlap then.
        pixels_together: Output pixels computed together.
    """

    def overlap(site: Site) -> Mapping[int, int]:
        if arm_function and site.target.arm_library:
            return {}
        x, y = site.types[site.op.x].shape4, site.types[site.op.y].shape4
        return {0: window_distance(site.op.window, x, y, pixels_together, reads)}

    return overlap


def twice(
    overlap: Callable[[Site], Mapping[int, int]],
) -> Callable[[Site], Mapping[int, int]]:
    """Kernel.overlap of an order of codes, where each has two bytes."""

    def doubled(site: Site) -> Mapping[int, int]:
        return {index: 2 * distance for index, distance in overlap(site).items()}

    return doubled
