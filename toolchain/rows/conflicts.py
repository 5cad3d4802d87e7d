"""Which distances between blocks of a segment's memory are forbidden, and offsets that respect it.

Two blocks may lie over each other as long as no byte is needed for two things at the same step: a
row may lie in the part of a window that is free then.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

ITERATIONS = 400
SEED = 1

Interval = tuple[int, int]
"""From the first integer to before the second."""


@dataclass(slots=True)
class Conflicts:
    """Blocks by index, and per pair the forbidden distances.

    Args:
        sizes: Bytes of each block.
        alignment: Of every offset.
        apart: By pair (i, j), i < j: intervals in which offset j - offset i must not be.
    """

    sizes: list[int]
    alignment: int
    apart: dict[tuple[int, int], set[Interval]] = field(default_factory=dict)

    def forbid(self, i: int, j: int, low: int, high: int) -> None:
        """Offset j - offset i is not in [low, high)."""
        if low < high:
            key, interval = ((i, j), (low, high)) if i < j else ((j, i), (1 - high, 1 - low))
            self.apart.setdefault(key, set()).add(interval)

    def separate(self, i: int, one: Interval, j: int, other: Interval) -> None:
        """Bytes `one` of block i and `other` of block j are both in use."""
        self.forbid(i, j, one[0] - other[1] + 1, one[1] - other[0])

    def rivals(self) -> list[list[tuple[int, Interval]]]:
        """Per block: the others with each interval in which its offset less theirs must not be."""
        found: list[list[tuple[int, Interval]]] = [[] for _ in self.sizes]
        for (i, j), intervals in self.apart.items():
            for low, high in _merged(intervals):
                found[j].append((i, (low, high)))
                found[i].append((j, (1 - high, 1 - low)))
        return found


def _merged(intervals: Iterable[Interval]) -> list[Interval]:
    merged: list[Interval] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], high)
        else:
            merged.append((low, high))
    return merged


@dataclass(frozen=True, slots=True)
class Placement:
    """Offsets of all blocks, and the bytes they take together."""

    offsets: tuple[int, ...]
    nbytes: int


def place(conflicts: Conflicts, bound: int, *, search: bool) -> Placement:
    """Offsets of the blocks; the same blocks, the same offsets.

    Args:
        conflicts: The blocks.
        bound: Bytes below which there is no placement: good enough when met.
        search: Try other orders than the fixed ones, a fixed number of times.
    """
    rivals = conflicts.rivals()
    orders = list(_orders(conflicts, rivals))
    best, order = min(
        ((_placed(conflicts, rivals, order), order) for order in orders),
        key=lambda found: found[0].nbytes,
    )
    return _improved(conflicts, rivals, best, order, bound) if search else best


def _orders(
    conflicts: Conflicts, rivals: Sequence[Sequence[tuple[int, Interval]]]
) -> Iterator[list[int]]:
    every, sizes = range(len(conflicts.sizes)), conflicts.sizes
    crowd = [sum(sizes[j] for j in {j for j, _ in found}) for found in rivals]
    yield sorted(every, key=lambda i: (-sizes[i], i))
    yield sorted(every, key=lambda i: (-crowd[i], -sizes[i], i))
    yield list(every)
    yield sorted(every, key=lambda i: -i)


def _placed(
    conflicts: Conflicts,
    rivals: Sequence[Sequence[tuple[int, Interval]]],
    order: Sequence[int],
) -> Placement:
    """Each block at the lowest offset that those before it leave."""
    offsets = [-1] * len(conflicts.sizes)
    for i in order:
        offsets[i] = _lowest(rivals[i], offsets, conflicts.alignment)
    return _placement(conflicts, offsets)


def _placement(conflicts: Conflicts, offsets: Sequence[int]) -> Placement:
    ends = (o + n for o, n in zip(offsets, conflicts.sizes, strict=True))
    return Placement(tuple(offsets), max(ends, default=0))


def _lowest(rivals: Sequence[tuple[int, Interval]], offsets: Sequence[int], alignment: int) -> int:
    """The lowest offset of a block beside those that have one, which is -1 for the others."""
    offset = 0
    for low, high in sorted(
        [(offsets[j] + a, offsets[j] + b) for j, (a, b) in rivals if offsets[j] >= 0]
    ):
        if low > offset:
            break
        if high > offset:
            offset = -(-high // alignment) * alignment
    return offset


def _replaced(
    conflicts: Conflicts,
    rivals: Sequence[Sequence[tuple[int, Interval]]],
    current: Placement,
    order: Sequence[int],
    changed: set[int],
) -> Placement | None:
    """The blocks placed in a changed order; None when they end above where they do now.

    A block stays where it was unless it moved, or a rival did in the order or in the memory.

    Args:
        conflicts: The blocks.
        rivals: Of each.
        current: The blocks placed in the order before.
        order: The order.
        changed: The blocks that have moved in it, and their rivals.
    """
    offsets = [-1] * len(order)
    for i in order:
        offsets[i] = current.offsets[i]
        if i in changed:
            offsets[i] = -1
            offsets[i] = _lowest(rivals[i], offsets, conflicts.alignment)
            if offsets[i] + conflicts.sizes[i] > current.nbytes:
                return None
            if offsets[i] != current.offsets[i]:
                changed.update(j for j, _ in rivals[i])
    return _placement(conflicts, offsets)


def _improved(
    conflicts: Conflicts,
    rivals: Sequence[Sequence[tuple[int, Interval]]],
    best: Placement,
    order: list[int],
    bound: int,
) -> Placement:
    """Move blocks at the top earlier in the order, for a fixed number of times."""
    rng = random.Random(SEED)
    current = best
    for _ in range(ITERATIONS):
        if current.nbytes <= bound or len(order) < 2:
            break
        highest = [i for i in order if current.offsets[i] + conflicts.sizes[i] == current.nbytes]
        candidate = order.copy()
        changed: set[int] = set()
        for _ in range(rng.choice((1, 1, 2, 3))):
            moved = rng.choice(highest if rng.random() < 0.7 else candidate)
            candidate.remove(moved)
            candidate.insert(rng.randrange(len(order)), moved)
            changed.update((moved, *(j for j, _ in rivals[moved])))
        placed = _replaced(conflicts, rivals, current, candidate, changed)
        if placed is not None:
            order, current = candidate, placed
            if placed.nbytes < best.nbytes:
                best = placed
    return best
