"""Which layers run row by row: next to none, for the smallest arena, or to fit."""

from collections.abc import Sequence

from toolchain.ir import Graph, Target
from toolchain.plan.bands import Bands, more_instructions
from toolchain.plan.check import check_plan
from toolchain.plan.cuts import Cuts
from toolchain.plan.economy import Arranged, arrange
from toolchain.plan.memories import Room
from toolchain.plan.refused import require_image
from toolchain.plan.wish import Ram, Wish
from toolchain.rows import RowChoice, Streamed, check_rows
from toolchain.select import Optimize, select_kernels


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
        self._cuts: Cuts | None = None
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
            require_image(self._graph)
        enough = ram if isinstance(ram, int) else 0
        quick = self._quick(enough)
        if ram is Ram.MIN:
            return self._searched().smallest(quick)
        if ram is Ram.AUTO and quick is not None and not self._wish.by_rows:
            return quick
        if ram is Ram.AUTO:
            # Never more than with the whole input.
            enough = self._bands().found().plan.arena_bytes
        if quick is not None and quick.plan.arena_bytes <= enough:
            return quick
        smallest = self.at(Ram.MIN)
        if ram is Ram.AUTO:
            enough = max(enough, smallest.plan.arena_bytes)
        return self._searched().within(enough, smallest)

    def _quick(self, enough: int) -> Arranged | None:
        """A plan without long segments, if there is one; so many bytes are few enough."""
        if self._wish.by_rows:
            return self._bands(by_rows=True).fed(enough)
        if self._default.plan.arena_bytes <= enough:
            return self._default
        return self._bands().found(enough)

    def _bands(self, *, by_rows: bool = False) -> Bands:
        return Bands(self._graph, self._default, self._target, self._wish, by_rows=by_rows)

    def _searched(self) -> Cuts:
        if self._cuts is None:
            default = self._default
            self._cuts = Cuts(default.graph, default.choices, self._target, self._wish)
        return self._cuts


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
        # A layer by itself may need nothing for its rows, but then less scratch memory than whole.
        live = f"in {choice.scratch:,} bytes, {choice.layout.bound:,} of them live at one step"
        memory = f" {live}" if choice.scratch else ", without memory of its own"
        notes.append(f"{layers}: {way}{memory}{cost}")
    return notes
