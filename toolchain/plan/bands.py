"""Blocks of layers in bands of rows: a smaller arena for hardly any instructions.

Where a few layers need the most bytes, they run as a segment whose calls compute several rows: the
tensors between them never exist whole, and what a residual addition gives is written over the rows
that are added. Bands are as high as the arena allows, since a call costs the same for many rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolchain.ir import Graph, Target
from toolchain.plan.arena import plan_memory
from toolchain.plan.economy import SHARE, Arranged
from toolchain.plan.ground import ANY, Ground
from toolchain.plan.wish import Wish
from toolchain.rows import RowChoice, Segment, Streamed, with_segments
from toolchain.select import Choice, Optimize, select_kernels

BANDS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Rows that a call computes."""

PREDICTED = 0.01
"""Of the instructions of the model: what bands may cost as predicted, which is not exact."""

STEP = 60
"""Instructions of a step besides those of its kernel, and of one that was not measured."""

LONGEST = 5
"""Layers of a segment."""

PARTS = 16
LEAST = 1024
"""Segments save a part of the arena, and at least the bytes that they take in flash, roughly."""

TRIES = 120
"""Segments that are looked at."""


def more_instructions(
    op: Streamed, choice: RowChoice, whole: Mapping[str, Choice]
) -> tuple[int, int]:
    """Instructions that rows take more than whole tensors, and those of whole tensors.

    Layers without data count for nothing.
    """
    more = total = 0
    for part in op.parts:
        rows, before = choice.costs[part.y], whole[part.y].predicted
        if rows is not None and before is not None:
            more, total = more + rows - before, total + before
    return more, total


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a segment needs: bytes in use while it runs, and instructions more."""

    peak: int
    more: int


Cut = tuple[int, int, int]
"""First and last operator of a segment, and the rows of its calls."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to run the first operators: bytes, instructions more, segments."""

    peak: int
    cost: int
    cuts: tuple[Cut, ...] = ()


class Bands(Ground):
    """Plans of one graph with blocks in bands.

    Args:
        graph: Quantised graph.
        default: Its plan with whole tensors.
        target: Instruction set and family.
        wish: What for, but for the size.
        by_rows: The caller hands the input over row by row.
    """

    def __init__(
        self, graph: Graph, default: Arranged, target: Target, wish: Wish, *, by_rows: bool
    ) -> None:
        super().__init__(default.graph, default.choices, target, wish, by_rows=by_rows)
        self.default, self.optimize = default, wish.optimize
        self.fastest = select_kernels(graph, target, wish.optimize)
        total = sum(choice.predicted or 0 for choice in self.fastest.values())
        spent = sum(choice.predicted or 0 for choice in default.choices.values()) - total
        self.budget = min(int(PREDICTED * total), int(SHARE * total) - spent)
        self.costs: dict[Cut, _Cost | None] = {}

    def found(self, enough: int = 0) -> Arranged:
        """The plan with blocks in bands, or the default one where they save too little.

        Args:
            enough: Bytes; among plans that have no more, the fastest.
        """
        if self.budget <= 0 or self.optimize is Optimize.SIZE:
            return self.default
        first = max(_below(self.default.plan.arena_bytes), enough)
        for way in reversed(self._ways(first, enough, self.budget)):
            found = self._planned(way)
            if found.plan.arena_bytes <= first:
                return found
        return self.default

    def fed(self, enough: int = 0) -> Arranged | None:
        """The plan where the caller hands the input over row by row; None if that cannot be.

        Args:
            enough: As in `found`.
        """
        cheapest = self._cheapest(ANY)
        if cheapest is None:
            return None
        more = 0 if self.optimize is Optimize.SIZE else max(self.budget, 0)
        ways = self._ways(ANY, enough, cheapest.cost + more)
        return min(map(self._planned, ways[-2:]), key=lambda found: found.plan.arena_bytes)

    def _ways(self, limit: int, enough: int, budget: int) -> list[_Way]:
        """Lower and lower peaks while the budget lasts."""
        ways: list[_Way] = []
        while (way := self._cheapest(limit)) is not None and way.cost <= budget:
            ways.append(way)
            if way.peak <= enough:
                break
            limit = max(_below(way.peak), enough)
        return ways

    def _cheapest(self, limit: int) -> _Way | None:
        """The fewest instructions more with peaks of at most the limit.

        Segments are tried where a layer by itself needs more.
        """
        best: list[_Way | None] = [_Way(0, 0)]
        near = -1
        for last, need in enumerate(self.alone):
            found, before = None, best[last]
            if need > limit:
                near = last
            elif before is not None:
                found = replace(before, peak=max(before.peak, need))
            for first in range(min(near, last), max(last - LONGEST, -1), -1):
                before = best[first]
                if before is None or (found is not None and before.cost >= found.cost):
                    continue
                band, cost = self._highest(first, last, limit)
                if cost is not None and (found is None or before.cost + cost.more < found.cost):
                    peak = max(before.peak, cost.peak)
                    cuts = (*before.cuts, (first, last, band))
                    found = _Way(peak, before.cost + cost.more, cuts)
            best.append(found)
        return best[-1]

    def _highest(self, first: int, last: int, limit: int) -> tuple[int, _Cost | None]:
        """The highest bands with a peak of at most the limit."""
        low, high = 0, len(BANDS)
        found: _Cost | None = None
        middle = 0
        while low < high:
            cost = self._cost((first, last, BANDS[middle]))
            if cost is None:
                break
            if cost.peak > limit:
                high = middle
            else:
                found, low = cost, middle + 1
            middle = (low + high) // 2
        return BANDS[max(low - 1, 0)], found

    def _cost(self, cut: Cut) -> _Cost | None:
        """None where there is no such segment, or too many were looked at."""
        if cut not in self.costs and sum(c is not None for c in self.costs.values()) < TRIES:
            first, last, band = cut
            segment = self.segments.segment(first, last, band, search=False)
            self.costs[cut] = None if segment is None else self._cost_of(segment)
        return self.costs.get(cut)

    def _cost_of(self, segment: Segment) -> _Cost:
        # Whether windows find room over an input that is consumed only a placement shows.
        apart = replace(segment, choice=replace(segment.choice, beneath={}))
        more, _ = more_instructions(segment.op, segment.choice, self.fastest)
        steps = sum(len(stage.calls) for stage in segment.choice.layout.stages)
        return _Cost(self.peak(apart), max(more, 0) + STEP * steps)

    def _planned(self, way: _Way) -> Arranged:
        made = [self.segments.segment(*cut) for cut in way.cuts]
        segments = [segment for segment in made if segment is not None]
        graph, choices = with_segments(self.graph, self.choices, segments)
        for step, op in enumerate(graph.ops):
            # What was changed for the arena with whole tensors may be needless now.
            if op.y in self.fastest and not isinstance(op, Streamed):
                faster = {**choices, op.y: self.fastest[op.y]}
                if choices[op.y] != faster[op.y] and self.live(graph, faster)[step] <= way.peak:
                    choices = faster
        return Arranged(
            graph, choices, plan_memory(graph, choices, self.alignment, self.keep_inputs)
        )


def _below(nbytes: int) -> int:
    """The most bytes that are worth segments."""
    return nbytes - max(nbytes // PARTS, LEAST)
