"""Offsets for blocks of bytes with lives: greedy placement in an order, and search over orders."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

ITERATIONS = 600
SEED = 1


Overlap = tuple[int, int, int]
"""(block, the other block it may partly cover, bytes by which it must begin before that one)."""

Shrinks = Mapping[int, tuple[tuple[int, int], ...]]
"""For blocks that become smaller, by index: (step, bytes after that step), in this order."""


class Rival(NamedTuple):
    """Another block that is live at a common step.

    Args:
        block: Its index.
        below: Bytes from the start of this block to the start of the rival, at least, when this
            block begins below it or with it.
        above: Bytes from the start of the rival to the start of this block, at least, otherwise.
    """

    block: int
    below: int
    above: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks by index.

    Args:
        sizes: Bytes of each, at first, multiples of the alignment.
        lives: First and last step of each, both included.
        rivals: The other blocks that are live at a common step, per block.
        overlaps: The pairs that may overlap, where distances are below 0 with the block behind the
            start of the other; two blocks that are live together with a third one of
            a pair may not.
        shrinks: Blocks that become smaller.
    """

    sizes: tuple[int, ...]
    lives: tuple[tuple[int, int], ...]
    rivals: tuple[tuple[Rival, ...], ...]
    overlaps: tuple[Overlap, ...] = ()
    shrinks: Shrinks = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        blocks: Sequence[tuple[int, int, int]],
        overlaps: Sequence[Overlap] = (),
        shrinks: Shrinks | None = None,
    ) -> "Blocks":
        """Blocks given as (bytes, first step, last step).

        Args:
            blocks: All of them.
            overlaps: Pairs that may overlap, with distances that are multiples of the alignment;
                none is further below 0 than the other block is long.
            shrinks: Blocks that become smaller.
        """
        reach = {(one, other): distance for one, other, distance in overlaps}
        lives = tuple((first, last) for _, first, last in blocks)
        sizes = tuple(size for size, _, _ in blocks)
        plain = cls(sizes, lives, (), tuple(overlaps), shrinks or {})

        def rival(i: int, j: int) -> Rival:
            together = max(lives[i][0], lives[j][0])
            below, above = plain.size_at(i, together), plain.size_at(j, together)
            return Rival(j, reach.get((i, j), below), reach.get((j, i), above))

        rivals = tuple(
            tuple(
                rival(i, j)
                for j, (start, end) in enumerate(lives)
                if j != i and start <= last and first <= end
            )
            for i, (first, last) in enumerate(lives)
        )
        return replace(plain, rivals=rivals)

    def size_at(self, block: int, step: int) -> int:
        """Bytes of a block at a step of its life; never more at a later one."""
        size = self.sizes[block]
        for last, smaller in self.shrinks.get(block, ()):
            if step > last:
                size = smaller
        return size


def top(blocks: Blocks, offsets: Sequence[int]) -> int:
    """Bytes of the arena a placement needs."""
    return max((o + n for o, n in zip(offsets, blocks.sizes, strict=True)), default=0)


def place(blocks: Blocks, order: Sequence[int], best_fit: bool = False) -> tuple[int, ...]:
    """Place blocks in the given order, each where no rival that is already placed is.

    Args:
        blocks: The blocks.
        order: Every index once.
        best_fit: Take the smallest gap that is large enough instead of the lowest; above all rivals
            when no gap is.
    """
    offsets = [-1] * len(blocks.sizes)
    for i in order:
        offsets[i] = _offset(blocks, i, offsets, best_fit)
    return tuple(offsets)


def _offset(blocks: Blocks, block: int, offsets: Sequence[int], best_fit: bool = False) -> int:
    """Where a block goes beside those that have an offset, which is -1 for the others."""
    chosen, slack, end = -1, -1, 0
    # A rival keeps the offsets between two others free of this block.
    for start, stop in sorted(
        [
            (offsets[j] - below, offsets[j] + above)
            for j, below, above in blocks.rivals[block]
            if offsets[j] >= 0
        ]
    ):
        gap = start - end
        if gap >= 0 and (chosen < 0 or gap < slack):
            chosen, slack = end, gap
            if not best_fit:
                break
        if stop > end:
            end = stop
    return end if chosen < 0 else chosen


def greedy_orders(blocks: Blocks) -> list[list[int]]:
    """The fixed orders: largest area, longest, most rivals, largest, earliest, latest first."""
    sizes, lives = blocks.sizes, blocks.lives
    span = [last - first + 1 for first, last in lives]
    crowd = [sum(sizes[rival.block] for rival in rivals) for rivals in blocks.rivals]
    keys: tuple[Callable[[int], tuple[int, ...]], ...] = (
        lambda i: (-span[i] * sizes[i], i),
        lambda i: (-span[i], -sizes[i], i),
        lambda i: (-crowd[i], -sizes[i], i),
        lambda i: (-sizes[i], -span[i], i),
        lambda i: (lives[i][0], -lives[i][1], -sizes[i], i),
        lambda i: (-lives[i][1], lives[i][0], -sizes[i], i),
    )
    return [sorted(range(len(sizes)), key=key) for key in keys]


def greedy_placements(blocks: Blocks) -> Iterator[tuple[int, ...]]:
    """Every fixed order, at the lowest offset and at the tightest one."""
    for order in greedy_orders(blocks):
        yield place(blocks, order)
        yield place(blocks, order, best_fit=True)


def improve(blocks: Blocks, start: tuple[int, ...], bound: int) -> tuple[int, ...]:
    """Local search from a placement: move a block at the top of the arena earlier in the order.

    Placing in the order of the offsets does not make a placement larger, unless a block lies behind
    the start of one it covers, so the search starts there; at one offset a block comes before those
    it covers, which have lower indices. Seeded, with a fixed number of iterations; stops early when
    the bound is met.
    """
    rng = random.Random(SEED)
    best = current = start
    height = top(blocks, start)
    order = sorted(range(len(start)), key=lambda i: (start[i], -i))
    in_order = place(blocks, order)
    if top(blocks, in_order) > height:
        current, height = in_order, top(blocks, in_order)
    near = [sum(1 << rival.block for rival in rivals) for rivals in blocks.rivals]
    for _ in range(ITERATIONS):
        if height <= bound:
            break
        highest = [i for i in order if current[i] + blocks.sizes[i] == height]
        candidate, changed = order.copy(), 0
        for _ in range(rng.choice((1, 1, 2, 3))):
            moved = rng.choice(highest if rng.random() < 0.7 else candidate)
            candidate.remove(moved)
            candidate.insert(rng.randrange(len(order)), moved)
            changed |= 1 << moved
        placed = _replaced(blocks, near, in_order, candidate, changed, height)
        if placed is not None:
            order, current, in_order = candidate, placed, placed
            height = top(blocks, placed)
            if height < top(blocks, best):
                best = placed
    return best


def _replaced(
    blocks: Blocks,
    near: Sequence[int],
    offsets: Sequence[int],
    order: Sequence[int],
    changed: int,
    ceiling: int,
) -> tuple[int, ...] | None:
    """The blocks placed in a changed order; None when they end above the ceiling.

    A block stays where it was unless it moved, or a rival did in the order or in the arena.

    Args:
        blocks: The blocks.
        near: The rivals of each, one bit each.
        offsets: The blocks placed in the order before, below the ceiling.
        order: The order.
        changed: The blocks that have moved in it, one bit each.
        ceiling: Bytes.
    """
    placed = [-1] * len(order)
    for i in order:
        if not (near[i] | 1 << i) & changed:
            placed[i] = offsets[i]
            continue
        placed[i] = _offset(blocks, i, placed)
        if placed[i] + blocks.sizes[i] > ceiling:
            return None
        if placed[i] != offsets[i]:
            changed |= 1 << i
    return tuple(placed)
