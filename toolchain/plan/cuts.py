"""Which neighbours in the order run row by row as one: the smallest arena, or the fastest plan.

Dynamic programming over cuts of the order into segments and single operators. What the memory of a
segment takes is estimated first and searched for where a cut looks promising.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from toolchain.errors import InputRefused
from toolchain.ir import Graph, Target
from toolchain.plan.arena import plan_memory
from toolchain.plan.bands import more_instructions
from toolchain.plan.economy import Arranged
from toolchain.plan.ground import ANY, Ground
from toolchain.plan.refused import rows_refused
from toolchain.plan.wish import Wish
from toolchain.rows import Segment, with_segments
from toolchain.select import Choice

Cut = tuple[int, int]
"""First and last operator of a segment."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to run the first operators.

    Args:
        peak: Bytes that it needs.
        cost: Instructions more than with whole tensors, as predicted.
        cuts: First and last operator of every segment.
    """

    peak: int
    cost: int
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a segment needs.

    Args:
        peak: Bytes in use while it runs, at least.
        own: Those of its own memory.
        more: Instructions more than of whole layers, as predicted.
        placed: Its memory was searched for: it takes `own` bytes. Else it hardly takes fewer,
            whatever the search will find.
        estimate: The peak with the memory of a first placement.
    """

    peak: int
    own: int
    more: int
    placed: bool
    estimate: int


SEARCHES = 24
"""Segments whose memory is searched for in looking for one plan, before estimates must do."""

PLANS = 16
"""Arenas that are placed in looking for one."""


class Cuts(Ground):
    """Dynamic programming over cuts of the order into segments and single operators."""

    def __init__(
        self, graph: Graph, choices: Mapping[str, Choice], target: Target, wish: Wish
    ) -> None:
        super().__init__(graph, choices, target, wish, by_rows=wish.by_rows)
        self.costs: dict[Cut, _Cost | None] = {}
        self.placed: dict[Cut, Segment | None] = {}
        self.searches = 0
        self.known: dict[Cut, _Cost | None] = {}

    def smallest(self, default: Arranged | None) -> Arranged:
        """The plan with the smallest arena that is found.

        Before its memory is searched for, a segment counts with the least that the search may find,
        so what was not tried could hardly be smaller.

        Args:
            default: One without long segments, if there is one.

        Raises:
            InputRefused: There is no plan for rows that the caller hands over.
        """
        found = self._smallest(default)
        if found is None:
            raise rows_refused(self.segments)
        self.known = dict(self.costs)
        return found

    def _smallest(self, default: Arranged | None) -> Arranged | None:
        best = default
        tried: set[tuple[Cut, ...]] = set()
        self.searches = 0
        while len(tried) < PLANS:
            way = self._untried(ANY if best is None else best.plan.arena_bytes - 1, tried)
            if way is None:
                break
            tried.add(way.cuts)
            found = self._planned(way)
            if best is None or found.plan.arena_bytes < best.plan.arena_bytes:
                best = found
        return best

    def _untried(self, limit: int, tried: Collection[tuple[Cut, ...]]) -> _Way | None:
        """The cuts of the lowest peak; else, where its arena is larger than that, other ones.

        Those are the fastest for some peak: what a search for a number of bytes would take.
        """
        way = self._way(limit)
        bound = limit
        while way is not None and way.cuts in tried:
            way = self._certain(bound)
            if way is not None:
                bound = way.peak - 1
        return way

    def within(self, limit: int, smallest: Arranged) -> Arranged:
        """The fastest plan that fits; the same, whatever was asked before.

        Args:
            limit: Bytes of the arena.
            smallest: The plan with the smallest arena.

        Raises:
            InputRefused: No plan has so few bytes.
        """
        if smallest.plan.arena_bytes > limit:
            raise InputRefused(
                "plan",
                self.graph.name,
                f"no plan of {limit:,} bytes of RAM is found; the smallest arena takes "
                f"{smallest.plan.arena_bytes:,} bytes",
                f"give --ram {smallest.plan.arena_bytes} or more, or use a smaller model",
            )
        self.searches, self.costs = 0, dict(self.known)
        bound = limit
        for _ in range(PLANS):
            # A plan may need a little more than its peak.
            way = self._certain(bound)
            if way is None:
                break
            found = self._planned(way)
            if found.plan.arena_bytes <= limit:
                return found
            bound = way.peak - 1
        return smallest

    def _placed(self, first: int, last: int) -> Segment | None:
        """A segment whose memory was searched for longer."""
        key = first, last
        if key not in self.placed:
            self.placed[key] = self.segments.segment(first, last)
        return self.placed[key]

    def _cost(self, first: int, last: int) -> _Cost | None:
        """What operators first to last need as one segment; None when they cannot be one."""
        key = first, last
        if key not in self.costs:
            segment = self.segments.segment(first, last, search=False)
            self.costs[key] = None if segment is None else self._cost_of(segment, placed=False)
        cost = self.costs[key]
        if cost is not None and self.searches >= SEARCHES:
            return replace(cost, peak=cost.estimate)
        return cost

    def _cost_of(self, segment: Segment, *, placed: bool) -> _Cost:
        choice = segment.choice if placed else segment.least
        more = more_instructions(segment.op, choice, self.choices)[0]
        estimate = self.peak(segment)
        peak = estimate if placed else self.peak(replace(segment, choice=choice))
        return _Cost(peak, choice.scratch, max(more, 0), placed, estimate)

    def _by_rows(self, first: int) -> bool:
        return self.segments.stages(self.graph.ops[first]) is not None

    def _way(self, limit: int) -> _Way | None:
        """The cuts of the lowest peak, and the fewest instructions with that."""
        while (way := self._lowest_way(limit)) is not None:
            if not self._search(way):
                break
        return way

    def _lowest_way(self, limit: int) -> _Way | None:
        """The same with what is known of the segments now.

        Longer segments are left out where shorter ones take too much, and a few do take less: so
        the lowest peak may be out of reach for a limit so low, and a limit that is not is bisected.
        """
        low = self._lowest(limit)
        way = None if low is None else self._fastest(low) or self._fastest(limit)
        while low is not None and way is not None and low < way.peak - self.alignment:
            middle = (low + way.peak) // 2
            lower = self._fastest(middle)
            if lower is None:
                low = middle
            else:
                way = lower
        return way

    def _certain(self, limit: int) -> _Way | None:
        """The fewest instructions more with peaks of at most the limit, as searches find them."""
        while (way := self._fastest(limit)) is not None:
            if not self._search(way):
                break
        return way

    def _search(self, way: _Way) -> bool:
        """Search for the memory of the segments; False when that was done for all of them."""
        new = False
        for cut in way.cuts:
            cost = self.costs[cut]
            if cost is not None and not cost.placed:
                segment = self._placed(*cut)
                assert segment is not None
                self.costs[cut] = self._cost_of(segment, placed=True)
                self.searches += 1
                new = True
        return new

    def _lowest(self, limit: int) -> int | None:
        """The lowest peak that cuts can reach, at most the limit."""
        best: list[int | None] = [0]
        for last in range(len(self.graph.ops)):
            found: int | None = None
            before = best[last]
            if before is not None and max(before, self.alone[last]) <= limit:
                found = max(before, self.alone[last])
            for first in range(last, -1, -1):
                known = limit if found is None else found - 1
                if not self._by_rows(first):
                    break
                before = best[first]
                if before is None or before > known:
                    continue
                cost = self._cost(first, last)
                if cost is not None and cost.own > known:
                    break
                if cost is not None and cost.peak <= known:
                    found = max(before, cost.peak)
            best.append(found)
        return best[-1]

    def _fastest(self, limit: int) -> _Way | None:
        """The fewest instructions more with peaks of at most the limit."""
        best: list[_Way | None] = [_Way(0, 0)]
        for last in range(len(self.graph.ops)):
            found, before = None, best[last]
            if before is not None and self.alone[last] <= limit:
                found = replace(before, peak=max(before.peak, self.alone[last]))
            for first in range(last, -1, -1):
                if not self._by_rows(first):
                    break
                before = best[first]
                if before is None or (found is not None and before.cost >= found.cost):
                    continue
                cost = self._cost(first, last)
                if cost is not None and cost.own > limit:
                    break
                if cost is None or cost.peak > limit:
                    continue
                total = before.cost + cost.more
                if found is None or total < found.cost:
                    peak = max(before.peak, cost.peak)
                    found = _Way(peak, total, (*before.cuts, (first, last)))
            best.append(found)
        return best[-1]

    def _planned(self, way: _Way) -> Arranged:
        made = [self._placed(*cut) for cut in way.cuts]
        segments = [segment for segment in made if segment is not None]
        graph, choices = with_segments(self.graph, self.choices, segments)
        plan = plan_memory(graph, choices, self.alignment, self.keep_inputs)
        return Arranged(graph, choices, plan)
