"""The arena in several memories: what is used most in the fastest one.

A buffer, with those that lie at its very place, goes to one memory. They are taken by falling
number of accesses per byte, each to the first memory in which all that is there already can still
be placed. One that finds no memory goes first in the next attempt. Then every part is placed as an
arena of its own. The parts follow one another in the offsets of the plan, so that to all that asks
where a tensor lies there is still one arena.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from toolchain.errors import InputRefused
from toolchain.ir import Graph
from toolchain.plan.accesses import accesses
from toolchain.plan.arena import Part, Plan, block_numbers, blocks_of, placed_buffers, survives
from toolchain.plan.economy import Arranged
from toolchain.plan.lifetimes import Buffer, aligned, lifetimes, live_bytes
from toolchain.plan.memories import Memories, Room
from toolchain.plan.placement import greedy_placements, top
from toolchain.select import Choice

ATTEMPTS = 40
"""Orders that are tried at most."""

_Group = tuple[Buffer, ...]


def divided(
    planned: Arranged, memories: Memories, alignment: int, keep_inputs: bool = False
) -> Arranged:
    """The planned graph with its arena where the user says; see `divide_plan`."""
    graph, choices, plan = planned.graph, planned.choices, planned.plan
    if memories.arena:
        plan = divide_plan(graph, choices, plan, memories.arena, alignment, keep_inputs)
    return replace(planned, plan=plan)


def divide_plan(
    graph: Graph,
    choices: Mapping[str, Choice],
    plan: Plan,
    rooms: Sequence[Room],
    alignment: int,
    keep_inputs: bool = False,
) -> Plan:
    """The plan with its arena in the rooms; in the first alone when it fits there.

    Args:
        graph: Operators in the order they run.
        choices: Kernel of every operator that computes, by its first output.
        plan: The plan with one arena.
        rooms: What the arena may take of which memory, the preferred one first.
        alignment: Alignment of every buffer, bytes.
        keep_inputs: Inputs survive a run.

    Raises:
        InputRefused: No division is found.
    """
    if plan.arena_bytes <= rooms[0].nbytes:
        return replace(plan, parts=(Part(rooms[0].memory, 0, plan.arena_bytes),))
    steps = max(len(graph.ops), 1)
    outputs = tuple(y for op in graph.ops for y in op.outputs)
    apart = lifetimes(graph, choices, keep_inputs, outputs)
    counts = accesses(graph, choices)
    division = _Division(rooms, alignment, steps, counts)
    for buffers in (plan.buffers, apart):
        groups = division.found(buffers)
        if groups is not None:
            return _joined(graph, plan, division, groups)
    sizes = ", ".join(f"{room.memory} ({room.nbytes:,} bytes)" for room in rooms)
    raise InputRefused(
        "plan",
        graph.name,
        f"the arena of {plan.arena_bytes:,} bytes fits neither whole nor in parts into {sizes}, as "
        f"far as was found; the peak is at {plan.peak_step}, {max(plan.step_bytes):,} bytes",
        "name more memories in --arena-in, run layers row by row with --ram min, or use a smaller "
        "model",
    )


@dataclass(frozen=True, slots=True)
class _Division:
    rooms: Sequence[Room]
    alignment: int
    steps: int
    counts: Mapping[tuple[str, bool], int]

    def found(self, buffers: Sequence[Buffer]) -> list[list[Buffer]] | None:
        """The buffers of each room, or None."""
        groups: dict[int, list[Buffer]] = {}
        for buffer, number in zip(buffers, block_numbers(buffers), strict=True):
            groups.setdefault(number, []).append(buffer)
        order = sorted((tuple(group) for group in groups.values()), key=self._rank)
        tried: set[tuple[_Group, ...]] = set()
        while len(tried) < ATTEMPTS and tuple(order) not in tried:
            tried.add(tuple(order))
            made, stuck = self._assigned(order)
            if stuck is None:
                return made
            order.remove(stuck)
            order.insert(0, stuck)
        return None

    def _rank(self, group: _Group) -> tuple[float, int, str]:
        """By falling accesses per byte, then by falling size."""
        count = sum(self.counts.get((b.name, b.is_scratch), 0) for b in group)
        return -count / max(group[0].nbytes, 1), -group[0].nbytes, group[0].name

    def _assigned(self, order: Sequence[_Group]) -> tuple[list[list[Buffer]], _Group | None]:
        """The buffers of each room, and the first group for which there was none."""
        made: list[list[Buffer]] = [[] for _ in self.rooms]
        for group in order:
            for content, room in zip(made, self.rooms, strict=True):
                if self._fits([*content, *group], room.nbytes):
                    content += group
                    break
            else:
                return made, group
        return made, None

    def _fits(self, buffers: Sequence[Buffer], nbytes: int) -> bool:
        """Whether a quick placement of the buffers takes at most so many bytes."""
        own = among(buffers)
        if max(live_bytes(own, self.steps, self.alignment)) > nbytes:
            return False
        blocks = blocks_of(own, self.alignment)
        return any(top(blocks, offsets) <= nbytes for offsets in greedy_placements(blocks))


def among(buffers: Sequence[Buffer]) -> tuple[Buffer, ...]:
    """Buffers by first step, which may overlap nothing but each other."""
    names = {b.name for b in buffers if not b.is_scratch}
    own = (replace(b, over=tuple(o for o in b.over if o[0] in names)) for b in buffers)
    return tuple(sorted(own, key=lambda b: b.first))


def _placed(division: _Division, groups: Sequence[list[Buffer]]) -> Iterator[tuple[Buffer, ...]]:
    """The buffers of every room with their offsets in it."""
    for group in groups:
        own = among(group)
        bound = max(live_bytes(own, division.steps, division.alignment))
        yield placed_buffers(own, division.alignment, bound).buffers


def _joined(graph: Graph, plan: Plan, division: _Division, groups: Sequence[list[Buffer]]) -> Plan:
    """One plan of the parts."""
    start, parts, buffers = 0, [], []
    for room, placed in zip(division.rooms, _placed(division, groups), strict=True):
        if not placed:
            continue
        end = max(b.offset + aligned(b.nbytes, division.alignment) for b in placed)
        parts.append(Part(room.memory, start, end))
        buffers += [replace(b, offset=b.offset + start) for b in placed]
        start += end
    ordered = tuple(sorted(buffers, key=lambda b: b.first))
    return replace(
        plan,
        offsets={t: b.offset for b in ordered for t in b.tensors},
        scratch_offsets={b.name: b.offset for b in ordered if b.is_scratch},
        arena_bytes=start,
        optimal=start == plan.lower_bound,
        buffers=ordered,
        input_survives={x: survives(x, ordered) for x in graph.inputs},
        parts=tuple(parts),
    )
