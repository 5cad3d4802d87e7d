"""Where the rows of a tensor lie in its window: a block of as many rows as are needed at once.

Rows lie one after the other, as kernels want them. When a row comes for which there is no place
left, those that are still needed move to the start of the window; or some steps after the last use
of those before them, which leaves the end of the window free until the next row comes.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from toolchain.rows.schedule import Row


@dataclass(frozen=True, slots=True)
class Move:
    """Rows that move to the start of the window before a step.

    Args:
        slot: Where the first of them lies.
        rows: How many.
    """

    slot: int
    rows: int


@dataclass(frozen=True, slots=True)
class Span:
    """What a window holds from a step until the next one of its spans.

    Args:
        step: When a row was added, or rows moved.
        first: The row at slot 0.
        last: The row that was added last.
    """

    step: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a tensor.

    Args:
        rows: Its size.
        moves: By step.
        spans: In order.
    """

    rows: int
    moves: dict[int, Move]
    spans: tuple[Span, ...]

    def at(self, step: int) -> Span:
        """What it holds at a step."""
        return self.spans[bisect_right(self.spans, step, key=lambda span: span.step) - 1]


def window_of(rows: Sequence[Row], delay: int | None = None) -> Window:
    """The smallest window for rows that exist from `born` to `last`.

    Args:
        rows: The rows.
        delay: Rows move so many steps after the last use of those before them; None: when there is
            no place for the next one.
    """
    size, lowest = 0, 0
    for i, row in enumerate(rows):
        lowest = _needed(rows, lowest, row.born)
        size = max(size, i - lowest + 1)
    moves: dict[int, Move] = {}
    spans: list[Span] = []
    start = lowest = 0

    def move(step: int, needed: int, last: int) -> None:
        nonlocal start
        if last >= needed > start:
            moves[step] = Move(needed - start, last - needed + 1)
        start = needed

    for born, group in groupby(range(len(rows)), lambda i: rows[i].born):
        i, *others = group
        end = others[-1] if others else i
        lowest = min(_needed(rows, lowest, born), i)
        if end - start >= size:
            move(born, lowest, i - 1)
        spans.append(Span(born, start, end))
        following = rows[end + 1].born if end + 1 < len(rows) else rows[end].last + 1
        if delay is not None:
            for used in range(start, end):
                step = rows[used].last + delay
                if born < step < following and rows[used + 1].last >= step:
                    move(step, used + 1, end)
                    spans.append(Span(step, start, end))
    return Window(size, moves, tuple(spans))


def _needed(rows: Sequence[Row], lowest: int, step: int) -> int:
    """The first row that is needed at a step or later."""
    while rows[lowest].last < step:
        lowest += 1
    return lowest
