"""Is there a placement within a given height? Branch and bound, with a proof when it ends."""

from collections.abc import Sequence

from toolchain.plan.placement import Blocks

MAX_BLOCKS = 300
"""More are not tried: the search is as deep as there are blocks."""


def place_within(
    blocks: Blocks, height: int, order: Sequence[int], nodes: int
) -> tuple[tuple[int, ...] | None, bool]:
    """Look for a placement of at most `height` bytes.

    In a lowest placement no block can move down, so each lies at 0 or on the highest of the rivals
    that begin below it. It is enough to place the blocks by rising offset, each on top of its
    rivals so far; blocks at one offset do not touch, so they come in one fixed order.

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
    search = _Search(blocks, height, order, nodes)
    if not search.extend((1 << len(order)) - 1, 0, -1):
        return None, search.nodes < nodes
    placed = dict(zip(order, search.offsets, strict=True))
    return tuple(placed[i] for i in range(len(order))), True


class _Search:
    """Blocks are numbered by their rank in the order; a column is a step that matters."""

    def __init__(self, blocks: Blocks, height: int, order: Sequence[int], limit: int) -> None:
        self.height, self.limit, self.nodes = height, limit, 0
        self.sizes = [blocks.sizes[i] for i in order]
        lives = [blocks.lives[i] for i in order]
        # Blocks that are live together are so when the last of them begins.
        steps = sorted({first for first, _ in lives})
        live = [
            frozenset(i for i, (first, last) in enumerate(lives) if first <= step <= last)
            for step in steps
        ]
        columns = [c for c in dict.fromkeys(live) if not any(c < other for other in live)]
        self.columns = [
            [c for c, column in enumerate(columns) if i in column] for i in range(len(order))
        ]
        self.tops = [0] * len(columns)
        self.rest = [sum(self.sizes[i] for i in column) for column in columns]
        self.offsets = [0] * len(order)
        self.seen: set[tuple[int, int, int, tuple[int, ...]]] = set()

    def extend(self, left: int, floor: int, rank: int) -> bool:
        """Place the blocks that are left (a mask), all behind (floor, rank); True when done."""
        if not left:
            return True
        state = (left, floor, rank, tuple(self.tops))
        if state in self.seen:
            return False
        self.seen.add(state)
        for offset, i in self._options(left, floor, rank):
            if self.nodes >= self.limit:
                return False
            self.nodes += 1
            before = [self.tops[c] for c in self.columns[i]]
            self.offsets[i] = offset
            if self._put(i, offset) and self.extend(left & ~(1 << i), offset, i):
                return True
            self._take(i, before)
        return False

    def _options(self, left: int, floor: int, rank: int) -> list[tuple[int, int]]:
        """(offset, block) that may come next; what is left of a column must fit above it."""
        ceiling = min((self.height - rest for rest in self.rest if rest), default=self.height)
        options = []
        for i, columns in enumerate(self.columns):
            if left >> i & 1:
                offset = max([self.tops[c] for c in columns])
                if (floor, rank) < (offset, i) and offset <= ceiling:
                    options.append((offset, i))
        return sorted(options)

    def _put(self, i: int, offset: int) -> bool:
        """Place a block; whether its columns can still end within the height."""
        top, fits = offset + self.sizes[i], True
        for c in self.columns[i]:
            self.tops[c] = top
            self.rest[c] -= self.sizes[i]
            fits = fits and top + self.rest[c] <= self.height
        return fits

    def _take(self, i: int, tops: list[int]) -> None:
        for c, top in zip(self.columns[i], tops, strict=True):
            self.tops[c] = top
            self.rest[c] += self.sizes[i]
