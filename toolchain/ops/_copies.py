"""Rearrangements of codes as the loops of the copy kernels: dimensions, steps and blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

MAX_RANK = 8
"""GLUE_MAX_RANK of glue.h."""

Loop = tuple[int, int]
"""(count, step in the input)"""


@dataclass(frozen=True, slots=True)
class StridedCopy:
    """Arguments of glue_strided_copy_s8.

    Args:
        offset: Cell of the input that index 0 reads.
        dims: Loop counts, at least one.
        steps: Steps in the input, one per loop.
        block: Codes that are next to each other in input and output.
    """

    offset: int
    dims: tuple[int, ...]
    steps: tuple[int, ...]
    block: int


@dataclass(frozen=True, slots=True)
class IndexedCopy:
    """Arguments of glue_indexed_copy_s8: per loop a table of offsets, and the block."""

    offsets: tuple[tuple[int, ...], ...]
    block: int


def strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Distance of neighbours along each axis of a row-major tensor."""
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def progression(values: Sequence[int]) -> list[Loop] | None:
    """Nested loops that count through `values` from values[0] on, or None without such.

    [0, 0, 1, 1] is two steps of 1, each twice; [0, 2, 1, 3] two steps of 1 around two of 2.
    """
    count = len(values)
    if count == 1:
        return []
    numbers = np.asarray(values, np.int64)
    step = int(numbers[1] - numbers[0])
    breaks = np.flatnonzero(np.diff(numbers) != step)
    longest = int(breaks[0]) + 1 if breaks.size else count
    for run in range(longest, 1, -1):
        if count % run:
            continue
        rows = numbers.reshape(-1, run)
        if np.array_equal(rows - rows[:, :1], np.broadcast_to(np.arange(run) * step, rows.shape)):
            outer = progression(rows[:, 0].tolist())
            return None if outer is None else [*outer, (run, step)]
    return None


def strided_copy(loops: Sequence[Loop], offset: int = 0, each: int = 1) -> StridedCopy:
    """The loops, outermost first, with neighbours merged and the innermost one as a block.

    Args:
        loops: In codes.
        offset: In codes.
        each: Bytes of a code; the result counts bytes.
    """
    merged: list[Loop] = []
    offset *= each
    for count, step in (*((n, each * s) for n, s in loops), (each, 1)):
        if count == 1:
            continue
        if merged and merged[-1][1] == count * step:
            merged[-1] = (merged[-1][0] * count, step)
        else:
            merged.append((count, step))
    block = merged.pop()[0] if merged and merged[-1][1] == 1 else 1
    merged = merged or [(1, 0)]
    return StridedCopy(offset, tuple(n for n, _ in merged), tuple(s for _, s in merged), block)


def indexed_copy(
    indices: Sequence[Sequence[int]], shape: Sequence[int], each: int = 1
) -> IndexedCopy:
    """Cell [i, j, ..] of the output reads cell [indices[0][i], indices[1][j], ..] of `shape`.

    Trailing axes that are taken whole make the block; the other whole axes are merged with the
    axis before them when that is whole too.

    Args:
        indices: By axis.
        shape: Of the input.
        each: Bytes of a cell; the result counts bytes.
    """
    tables: list[tuple[tuple[int, ...], bool]] = []
    indices, shape = (*indices, range(each)), (*shape, each)
    for values, size, stride in zip(indices, shape, strides(shape), strict=True):
        whole = tuple(values) == tuple(range(size))
        if whole and tables and tables[-1][1]:
            count = len(tables[-1][0]) * size
            tables[-1] = (tuple(stride * i for i in range(count)), True)
        elif size > 1 or len(values) > 1:
            tables.append((tuple(stride * v for v in values), whole))
    block = len(tables.pop()[0]) if tables and tables[-1][1] else 1
    return IndexedCopy(tuple(t for t, _ in tables) or ((0,),), block)
