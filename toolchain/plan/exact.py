"""Is there a placement within a given height? Branch and bound, with a proof when it ends."""

from collections.abc import Sequence

from toolchain.plan.lifetimes import most_shared
from toolchain.plan.placement import Blocks

MAX_BLOCKS = 300
"""More are not tried: the search is as deep as there are blocks."""


def place_within(
    blocks: Blocks, height: int, order: Sequence[int], nodes: int
) -> tuple[tuple[int, ...] | None, bool]:
    """Look for a placement of at most `height` bytes.

    Fix for each pair of rivals which of the two begins below: the lowest placement then has every
    block at 0 or at the least distance above one of the rivals below it. So it is enough to place
    the blocks by rising offset, each as low as its rivals so far allow. Blocks at one offset do not
    touch, so they come in one fixed order; only a block that may lie at the very place of another
    comes before it, always, because the other one's offset may follow from its own.

    Args:
        blocks: The blocks.
        height: Bytes of the arena.
        order: Every index once: which block is tried first, and comes first at one offset.
        nodes: Try at most so many positions of a block.

    Returns:
        The offsets or None, and whether the answer is final: found, or proved impossible.
    """
    if len(blocks.sizes) > MAX_BLOCKS:
        return None, False
    ranked = _covering_first(blocks, order)
    search = _Search(blocks, height, ranked, nodes)
    if not search.extend((1 << len(ranked)) - 1, 0, -1):
        return None, search.nodes < nodes
    placed = dict(zip(ranked, search.offsets, strict=True))
    return tuple(placed[i] for i in range(len(ranked))), True


def _covering_first(blocks: Blocks, order: Sequence[int]) -> list[int]:
    """The order, with each block moved behind those that may lie at its very place."""
    covering: dict[int, list[int]] = {}
    for one, other, distance in blocks.overlaps:
        if distance <= 0:
            covering.setdefault(other, []).append(one)
    ranked: dict[int, None] = {}

    def append(i: int) -> None:
        if i not in ranked:
            for one in covering.get(i, ()):
                append(one)
            ranked[i] = None

    for i in order:
        append(i)
    return list(ranked)


class _Search:
    """Blocks are numbered by their rank in the order; a column is a step that matters."""

    def __init__(self, blocks: Blocks, height: int, order: Sequence[int], limit: int) -> None:
        self.height, self.limit, self.nodes = height, limit, 0
        rank = {block: i for i, block in enumerate(order)}
        self.sizes = [blocks.sizes[i] for i in order]
        # Per block: the rivals, and how far above its start they begin at least.
        self.rivals = [
            [(rank[rival.block], rival.below) for rival in blocks.rivals[i]] for i in order
        ]
        lives = [blocks.lives[i] for i in order]
        # Blocks that are live together are so when the last of them begins.
        steps = sorted({first for first, _ in lives})
        live = [
            frozenset(i for i, (first, last) in enumerate(lives) if first <= step <= last)
            for step in steps
        ]
        columns = [c for c in dict.fromkeys(live) if not any(c < other for other in live)]
        # Bytes of every block at the first step of a column, where it is live there.
        self.sizes_at = [
            [blocks.size_at(i, steps[live.index(column)]) for i in order] for column in columns
        ]
        self.members = [sorted(column) for column in columns]
        self.columns = [
            [c for c, column in enumerate(columns) if i in column] for i in range(len(order))
        ]
        # Per column: the blocks that may cover others of it, with those and the distances.
        self.covers: list[dict[int, list[tuple[int, int]]]] = [{} for _ in columns]
        for one, other, distance in blocks.overlaps:
            y, x = rank[one], rank[other]
            for c in set(self.columns[y]) & set(self.columns[x]):
                self.covers[c].setdefault(y, []).append((x, distance))
        self.least = [0] * len(order)
        self.offsets = [0] * len(order)
        everything = (1 << len(order)) - 1
        self.rest = [self._stacked(c, everything, 0)[1] for c in range(len(columns))]
        self.seen: set[tuple[int, int, int, tuple[int, ...]]] = set()

    def extend(self, left: int, floor: int, rank: int) -> bool:
        """Place the blocks that are left (a mask), all behind (floor, rank); True when done."""
        if not left:
            return True
        least, rest = self.least, self.rest
        waiting = [i for i in range(len(least)) if left >> i & 1]
        state = (left, floor, rank, tuple([least[i] for i in waiting]))
        if state in self.seen:
            return False
        self.seen.add(state)
        # What is left of a column must fit above the next block.
        ceiling = self.height - max(rest)
        for offset, i in sorted([(least[i], i) for i in waiting]):
            if not (floor, rank) < (offset, i) or offset > ceiling:
                continue
            if self.nodes >= self.limit:
                return False
            self.nodes += 1
            if self._put(i, offset, left) and self.extend(left & ~(1 << i), offset, i):
                return True
            self.least, self.rest = least, rest
        return False

    def _put(self, i: int, offset: int, left: int) -> bool:
        """Place a block; whether its columns can still end within the height."""
        if offset + self.sizes[i] > self.height:
            return False
        left &= ~(1 << i)
        self.offsets[i] = offset
        self.least, self.rest = self.least.copy(), self.rest.copy()
        least = self.least
        for j, distance in self.rivals[i]:
            if least[j] < offset + distance and left >> j & 1:
                least[j] = offset + distance
        for c in self.columns[i]:
            end, self.rest[c] = self._stacked(c, left, offset)
            if end > self.height:
                return False
        return True

    def _stacked(self, c: int, left: int, floor: int) -> tuple[int, int]:
        """Where the blocks left of a column end, and how many bytes they cover, both at least.

        From the floor on one lies on the other, less all that they may share.
        """
        least, sizes = self.least, self.sizes_at[c]
        end, total = floor, 0
        for start, size in sorted([(least[i], sizes[i]) for i in self.members[c] if left >> i & 1]):
            end = (end if end > start else start) + size
            total += size
        for y, over in self.covers[c].items():
            if left >> y & 1:
                shared = most_shared(sizes[y], [(sizes[x], d) for x, d in over if left >> x & 1])
                end, total = end - shared, total - shared
        return end, total
