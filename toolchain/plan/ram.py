"""Which layers run row by row: next to none, for the smallest arena, or to fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from toolchain.errors import InputRefused
from toolchain.ir import Graph, Target
from toolchain.plan.arena import plan_memory
from toolchain.plan.bands import in_bands, more_instructions
from toolchain.plan.check import check_plan
from toolchain.plan.economy import Arranged, arrange
from toolchain.plan.lifetimes import bytes_in_use
from toolchain.plan.memories import Room
from toolchain.rows import RowChoice, Segment, Segments, Streamed, check_rows, with_segments
from toolchain.select import Choice, Optimize, select_kernels


class Ram(StrEnum):
    """What the plan of the memory is made for, unless for a number of bytes."""

    AUTO = "auto"
    """Layers one after the other, and a few in bands of rows where that costs next to nothing."""
    MIN = "min"
    """The smallest arena that is found, with layers row by row."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the memory is planned for.

    Args:
        ram: A number: the fastest plan whose arena has at most so many bytes.
        optimize: What kernels are chosen for.
        keep_inputs: Inputs survive a run.
        by_rows: The caller hands the input over row by row.
    """

    ram: Ram | int = Ram.AUTO
    optimize: Optimize = Optimize.SPEED
    keep_inputs: bool = False
    by_rows: bool = False


def plan_for(graph: Graph, target: Target, wish: Wish | None = None) -> Arranged:
    """Order the operators, decide which of them run row by row, and place everything.

    Args:
        graph: Quantised graph.
        target: Instruction set and family.
        wish: What for.

    Raises:
        InputRefused: No plan has so few bytes, or the first layers cannot take rows.
    """
    wish = wish or Wish()
    return Plans(graph, target, wish).at(wish.ram)


class Plans:
    """Plans of one graph for arenas of several sizes: what they share is searched once.

    Each is the plan that `plan_for` makes for that size.

    Args:
        graph: Quantised graph.
        target: Instruction set and family.
        wish: What for, but for the size.
    """

    def __init__(self, graph: Graph, target: Target, wish: Wish) -> None:
        self._graph, self._target, self._wish = graph, target, wish
        self._default = arrange(graph, target, wish.optimize, wish.keep_inputs)
        self._search: _Search | None = None
        self._made: dict[Ram | int, Arranged] = {}

    def at(self, ram: Ram | int) -> Arranged:
        """The plan for a size.

        Args:
            ram: As in Wish.

        Raises:
            InputRefused: No plan has so few bytes, or the first layers cannot take rows.
        """
        if ram not in self._made:
            self._made[ram] = self._at(ram)
        return self._made[ram]

    def _at(self, ram: Ram | int) -> Arranged:
        if self._wish.by_rows:
            return self._searched().found(ram, None)
        enough = ram if isinstance(ram, int) else 0
        if self._default.plan.arena_bytes <= enough:
            return self._default
        wish = self._wish
        bands = in_bands(
            self._graph, self._default, self._target, wish.optimize, wish.keep_inputs, enough
        )
        if ram is Ram.AUTO or bands.plan.arena_bytes <= enough:
            return bands
        return self._searched().found(ram, bands)

    def _searched(self) -> "_Search":
        if self._search is None:
            default = self._default
            self._search = _Search(default.graph, default.choices, self._target, self._wish)
        return self._search


def check_planned(planned: Arranged, target: Target, rooms: Sequence[Room] = ()) -> None:
    """Check the plan, and every segment by executing it in the planned arena.

    Args:
        planned: The plan.
        target: Instruction set and family.
        rooms: What the arena may take of which memory; empty: nothing is said.

    Raises:
        InternalError: Something is wrong; names the operator.
    """
    graph, plan = planned.graph, planned.plan
    check_plan(graph, planned.choices, plan, target.alignment, rooms)
    for op in graph.ops:
        choice = planned.choices.get(op.y)
        if isinstance(op, Streamed) and isinstance(choice, RowChoice):
            base = plan.scratch_offsets.get(op.y, 0)
            check_rows(graph, op, choice, plan.offsets, base, plan.arena_bytes, target)


def rows_notes(planned: Arranged, graph: Graph, target: Target, optimize: Optimize) -> list[str]:
    """For every segment, which layers run row by row, in how much memory, and what that costs.

    Args:
        planned: The plan.
        graph: The quantised graph it was made for.
        target: Instruction set and family.
        optimize: What kernels were chosen for.
    """
    segments = [op for op in planned.graph.ops if isinstance(op, Streamed)]
    whole = select_kernels(graph, target, optimize) if segments else {}
    notes = []
    for op in segments:
        choice = planned.choices[op.y]
        assert isinstance(choice, RowChoice)
        first, last = op.parts[0].name, op.parts[-1].name
        layers = f"{first} to {last}" if len(op.parts) > 1 else first
        more, before = more_instructions(op, choice, whole)
        cost = f"; predicted {more / before:+.0%} instructions there" if before else ""
        rows = max(call.writes[1] for stage in choice.layout.stages for call in stage.calls)
        way = "row by row" if rows == 1 else f"in bands of {rows} rows"
        notes.append(f"{layers}: {way} in {choice.scratch:,} bytes{cost}")
    return notes


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
    cuts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a segment needs.

    Args:
        peak: Bytes in use while it runs, at least.
        own: Those of its own memory.
        more: Instructions more than of whole layers, as predicted.
    """

    peak: int
    own: int
    more: int


_ANY = 1 << 40
"""A limit that is none."""


class _Search:
    """Dynamic programming over cuts of the order into segments and single operators."""

    def __init__(
        self, graph: Graph, choices: Mapping[str, Choice], target: Target, wish: Wish
    ) -> None:
        self.graph, self.choices, self.wish = graph, choices, wish
        self.alignment = target.alignment
        self.keep_inputs = wish.keep_inputs and not wish.by_rows
        fed = graph.inputs[0] if wish.by_rows and len(graph.inputs) == 1 else None
        self.segments = Segments(graph, target, wish.optimize, fed)
        self.alone = self._live(graph, choices)
        for i, op in enumerate(graph.ops):
            if wish.by_rows and (fed is None or fed in op.inputs):
                self.alone[i] = _ANY + 1
        self.costs: dict[tuple[int, int], _Cost | None] = {}
        self.placed: dict[tuple[int, int], Segment | None] = {}
        self.known: dict[int, tuple[Arranged | None, dict[tuple[int, int], _Cost | None]]] = {}

    def found(self, ram: Ram | int, default: Arranged | None) -> Arranged:
        """The plan for a size.

        Args:
            ram: The size.
            default: One without long segments; None when there must be rows.
        """
        found = self._quickest() if ram is Ram.AUTO else self._least(default)
        if found is None:
            raise InputRefused(
                "plan",
                self.graph.name,
                "its input cannot come row by row: the only input must be an image that nothing "
                "but convolutions, pools and element-wise layers read",
                "let the input be whole",
            )
        return self._within(ram, found) if isinstance(ram, int) else found

    def _quickest(self) -> Arranged | None:
        way = self._fastest(_ANY)
        return None if way is None else self._planned(way)

    def _least(self, default: Arranged | None) -> Arranged | None:
        """The same as `_smallest`, searched once; what was found on the way is as it was then."""
        limit = _ANY if default is None else default.plan.arena_bytes
        if limit not in self.known:
            self.known[limit] = self._smallest(default), dict(self.costs)
        found, costs = self.known[limit]
        self.costs = dict(costs)
        return default if found is None or found.plan.arena_bytes >= limit else found

    def _smallest(self, default: Arranged | None) -> Arranged | None:
        """The plan with the smallest arena that is found."""
        best = default
        seen: set[tuple[tuple[int, int], ...]] = set()
        while True:
            way = self._way(_ANY if best is None else best.plan.arena_bytes)
            if way is None or way.cuts in seen:
                return best
            seen.add(way.cuts)
            found = self._planned(way)
            if best is None or found.plan.arena_bytes < best.plan.arena_bytes:
                best = found
            # What placed segments need is known now: less than estimated.

    def _within(self, limit: int, smallest: Arranged) -> Arranged:
        """The fastest plan that fits."""
        if smallest.plan.arena_bytes > limit:
            raise InputRefused(
                "plan",
                self.graph.name,
                f"no plan of {limit:,} bytes of RAM is found; the smallest arena takes "
                f"{smallest.plan.arena_bytes:,} bytes",
                f"give --ram {smallest.plan.arena_bytes} or more, or use a smaller model",
            )
        for bound in self._bounds(limit):
            way = self._fastest(bound)
            if way is not None:
                found = self._planned(way)
                if found.plan.arena_bytes <= limit:
                    return found
        return smallest

    def _bounds(self, limit: int) -> list[int]:
        """Peaks to aim at, the largest first: a plan may need a little more than its peak."""
        peaks = {cost.peak for cost in self.costs.values() if cost is not None}
        return sorted((p for p in {*peaks, limit} if p <= limit), reverse=True)[:16]

    def _live(self, graph: Graph, choices: Mapping[str, Choice]) -> list[int]:
        return bytes_in_use(graph, choices, self.alignment, self.keep_inputs)

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
            self.costs[key] = None if segment is None else self._cost_of(segment)
        return self.costs[key]

    def _cost_of(self, segment: Segment) -> _Cost:
        live = self._live(*with_segments(self.graph, self.choices, [segment]))
        more = more_instructions(segment.op, segment.choice, self.choices)[0]
        return _Cost(live[segment.first], segment.choice.scratch, max(more, 0))

    def _by_rows(self, first: int) -> bool:
        return self.segments.stages(self.graph.ops[first]) is not None

    def _way(self, limit: int) -> _Way | None:
        """The cuts of the lowest peak, and the fewest instructions with that."""
        peak = self._lowest(limit)
        return None if peak is None else self._fastest(peak)

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
        made = [(cut, self._placed(*cut)) for cut in way.cuts]
        segments = [segment for _, segment in made if segment is not None]
        self.costs.update((cut, self._cost_of(s)) for cut, s in made if s is not None)
        graph, choices = with_segments(self.graph, self.choices, segments)
        plan = plan_memory(graph, choices, self.alignment, self.keep_inputs)
        return Arranged(graph, choices, plan)
