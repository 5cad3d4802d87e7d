"""Smallest arena for few blocks: branch and bound, with a proof when the search ends."""

from toolchain.plan.placement import Blocks

MAX_BLOCKS = 40
MAX_NODES = 4000


def exact_placement(blocks: Blocks, height: int, bound: int) -> tuple[tuple[int, ...] | None, bool]:
    """Look for a placement that is smaller than the given height.

    In a smallest placement every block can be moved down until it lies on a rival or at 0. Listing
    its blocks by offset, each lies on the highest rival before it. So it is enough to try the
    blocks in every order, each on top of its rivals so far, with offsets that never fall.

    Args:
        blocks: The blocks.
        height: Bytes of the best arena known.
        bound: Bytes no arena can be below; the search stops when it is met.

    Returns:
        The offsets of the smallest placement found below the height, or None, and whether it is
        proved that no smaller one exists.
    """
    if len(blocks.sizes) > MAX_BLOCKS:
        return None, False
    search = _Search(blocks, height, bound)
    search.extend((1 << len(blocks.sizes)) - 1, 0)
    return search.best, search.nodes < MAX_NODES or search.height <= bound


class _Search:
    def __init__(self, blocks: Blocks, height: int, bound: int) -> None:
        self.sizes, self.height, self.bound = blocks.sizes, height, bound
        # Blocks that are live together are all live when the last of them begins.
        steps = sorted({first for first, _ in blocks.lives})
        self.columns = [
            tuple(c for c, step in enumerate(steps) if first <= step <= last)
            for first, last in blocks.lives
        ]
        self.tops = [0] * len(steps)
        self.rest = [0] * len(steps)
        for size, columns in zip(blocks.sizes, self.columns, strict=True):
            for c in columns:
                self.rest[c] += size
        self.offsets = [0] * len(blocks.sizes)
        self.best: tuple[int, ...] | None = None
        self.nodes = 0
        self.seen: set[tuple[int, int, tuple[int, ...]]] = set()

    def extend(self, left: int, floor: int) -> None:
        """Place the blocks that are left (a mask), none below the floor."""
        if not left:
            self.best, self.height = tuple(self.offsets), max(self.tops)
            return
        state = (left, floor, tuple(self.tops))
        if state in self.seen:
            return
        self.seen.add(state)
        for offset, i in self._candidates(left, floor):
            if self.nodes >= MAX_NODES or self.height <= self.bound:
                return
            self.nodes += 1
            columns = self.columns[i]
            before = [self.tops[c] for c in columns]
            self._put(i, [offset + self.sizes[i]] * len(columns), -self.sizes[i])
            self.offsets[i] = offset
            if self._promising(offset):
                self.extend(left & ~(1 << i), offset)
            self._put(i, before, self.sizes[i])

    def _candidates(self, left: int, floor: int) -> list[tuple[int, int]]:
        """Blocks that may come next with their offsets, lowest and then largest first."""
        options = []
        for i, columns in enumerate(self.columns):
            if left >> i & 1:
                offset = max(self.tops[c] for c in columns)
                if offset >= floor:
                    options.append((offset, -self.sizes[i], i))
        return [(offset, i) for offset, _, i in sorted(options)]

    def _put(self, i: int, tops: list[int], change: int) -> None:
        for c, value in zip(self.columns[i], tops, strict=True):
            self.tops[c] = value
            self.rest[c] += change

    def _promising(self, floor: int) -> bool:
        """Whether every step can still end below the best height."""
        return all(
            max(t, floor if rest else 0) + rest < self.height
            for t, rest in zip(self.tops, self.rest, strict=True)
        )
