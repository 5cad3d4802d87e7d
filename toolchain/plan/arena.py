"""Where every tensor lies in the arena: colouring of the interference graph with byte offsets.

Two buffers interfere when their lives overlap; then their byte ranges must not, unless one is the
output of an operator and the other an input that dies there: those have to keep a distance that
the kernel states. Placing the buffers one after the other, each at the lowest offset that is free,
gives a plan for every order. Some fixed orders come first; then, while the arena is above the
live-set lower bound, a search for a placement at the bound, a seeded local search over orders, and
an exact search for anything smaller, all of them limited by counts, never by time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolchain.ir import Graph
from toolchain.plan.exact import place_within
from toolchain.plan.lifetimes import Buffer, aligned, lifetimes, live_bytes, view_roots
from toolchain.plan.placement import Blocks, greedy_orders, greedy_placements, improve, top
from toolchain.rows import RowChoice, Streamed
from toolchain.select import Choice

TIES = 500
"""Buffers placed at most in trying places of their own for outputs that lie on an input."""
QUICK_NODES = 500
NODES = 5000


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the arena in a memory of its own.

    Args:
        memory: Name of the memory.
        start: Offset in the arena at which it begins; the parts follow one another.
        nbytes: Its bytes.
    """

    memory: str
    start: int
    nbytes: int

    @property
    def end(self) -> int:
        """Offset behind it."""
        return self.start + self.nbytes


@dataclass(frozen=True, slots=True)
class Plan:
    """The arena of a graph.

    Args:
        offsets: Byte offset of every activation, views included. Constants and views of constants
            are in flash and not here.
        scratch_offsets: Byte offset of the scratch memory of the operators that need any, by the
            operator's first output.
        arena_bytes: Size of the arena, a multiple of the alignment.
        lower_bound: The most bytes that one step needs: what is live, less what its output can
            share with inputs that die there; of a segment that runs row by row the rows that are
            live at once. No plan in this order is smaller.
        optimal: Whether it is proved that no plan in this order is smaller.
        peak_step: Name of the operator at the first step that needs the most bytes.
        step_bytes: Bytes that each step needs, at least, with segments as they are laid out.
        buffers: The blocks of the arena, by first step.
        input_survives: For every input, whether its bytes are intact after a run.
        constants: For every tensor that is a view of a constant, that constant.
        parts: Where the arena is, if not whole in the board's RAM. A buffer lies in one part.
    """

    offsets: Mapping[str, int]
    scratch_offsets: Mapping[str, int]
    arena_bytes: int
    lower_bound: int
    optimal: bool
    peak_step: str
    step_bytes: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    input_survives: Mapping[str, bool]
    constants: Mapping[str, str]
    parts: tuple[Part, ...] = ()


def plan_memory(
    graph: Graph, choices: Mapping[str, Choice], alignment: int, keep_inputs: bool = False
) -> Plan:
    """Place every activation and all scratch memory in one arena; the same graph, the same plan.

    Args:
        graph: Operators in the order they run.
        choices: Kernel of every operator that computes, by its first output.
        alignment: Alignment of every buffer, bytes.
        keep_inputs: Inputs survive a run.
    """
    buffers = lifetimes(graph, choices, keep_inputs)
    live = live_bytes(buffers, max(len(graph.ops), 1), alignment)
    bound = max(live)
    best = placed_buffers(buffers, alignment, bound, exact=False)
    apart: tuple[str, ...] = ()
    ties = sorted((b for b in buffers if b.onto), key=lambda b: (-b.nbytes, b.first))
    for name in [b.name for b in ties[: TIES // max(len(buffers), 1)]]:
        # An output at the very place of an input ties both to one offset, which others may want.
        if best.end > bound:
            tried = lifetimes(graph, choices, keep_inputs, (*apart, name))
            freer = placed_buffers(tried, alignment, bound, exact=False)
            if freer.end < best.end:
                best, apart = freer, (*apart, name)
    if best.end > bound:
        tried = lifetimes(graph, choices, keep_inputs, apart)
        best = min(
            best, placed_buffers(tried, alignment, bound), key=lambda p: (p.end, not p.proved)
        )
    placed = best.buffers
    least = _at_bound(graph, choices)
    if least:
        rows = lifetimes(graph, {**choices, **least}, keep_inputs)
        bound = max(live_bytes(rows, len(live), alignment))
    proved = best.proved and not least and _is_exhaustive(buffers, alignment)
    roots = view_roots(graph)
    return Plan(
        offsets={t: b.offset for b in placed for t in b.tensors},
        scratch_offsets={b.name: b.offset for b in placed if b.is_scratch},
        arena_bytes=best.end,
        lower_bound=bound,
        optimal=best.end == bound or proved,
        peak_step=graph.ops[live.index(max(live))].name if graph.ops else "",
        step_bytes=tuple(live),
        buffers=placed,
        input_survives={x: survives(x, placed) for x in graph.inputs},
        constants={
            y: roots[y] for op in graph.ops for y in op.outputs if roots[y] in graph.constants
        },
    )


def _at_bound(graph: Graph, choices: Mapping[str, Choice]) -> dict[str, Choice]:
    """Segments with the least memory that their rows need."""
    found: dict[str, Choice] = {}
    for op in graph.ops:
        choice = choices.get(op.y)
        if isinstance(op, Streamed) and isinstance(choice, RowChoice):
            found[op.y] = choice.at_bound(op, graph.types)
    return found


def block_numbers(buffers: Sequence[Buffer]) -> list[int]:
    """The block of every buffer: those that lie onto one another are one."""
    numbers: list[int] = []
    known: dict[str, int] = {}
    for b in buffers:
        number = known[b.onto] if b.onto else len(set(numbers))
        numbers.append(number)
        if not b.is_scratch:
            known[b.name] = number
    return numbers


def blocks_of(buffers: Sequence[Buffer], alignment: int) -> Blocks:
    """What the searches place: bytes and distances, rounded up.

    Args:
        buffers: By first step.
        alignment: Alignment of every buffer, bytes.
    """
    numbers = block_numbers(buffers)
    index = {b.name: i for b, i in zip(buffers, numbers, strict=True) if not b.is_scratch}
    parts: dict[int, list[Buffer]] = {}
    for b, i in zip(buffers, numbers, strict=True):
        parts.setdefault(i, []).append(b)
    sizes = [aligned(part[0].nbytes, alignment) for part in parts.values()]
    overlaps = [
        (i, index[name], max(aligned(distance, alignment), -sizes[index[name]]))
        for i, part in parts.items()
        for name, distance in part[0].over
    ]
    return Blocks.of(
        [
            (size, part[0].first, part[-1].last)
            for size, part in zip(sizes, parts.values(), strict=True)
        ],
        [(i, j, distance) for i, j, distance in overlaps if distance < sizes[i]],
        {
            i: tuple((b.first, aligned(b.nbytes, alignment)) for b in part[1:])
            for i, part in parts.items()
            if len(part) > 1
        },
    )


@dataclass(frozen=True, slots=True)
class Placement:
    """Buffers with their offsets, where they end, and whether no others can end lower."""

    buffers: tuple[Buffer, ...]
    end: int
    proved: bool


def placed_buffers(
    buffers: Sequence[Buffer], alignment: int, bound: int, *, exact: bool = True
) -> Placement:
    """Place buffers in an arena that is as small as the searches find.

    Args:
        buffers: By first step; those that lie onto or over others come with these.
        alignment: Alignment of every buffer, bytes.
        bound: Bytes below which there is no placement.
        exact: Search for something smaller until that is proved, or the limit is reached.
    """
    blocks = blocks_of(buffers, alignment)
    offsets, proved = _place(blocks, bound, exact=exact)
    numbers = block_numbers(buffers)
    placed = tuple(replace(b, offset=offsets[i]) for b, i in zip(buffers, numbers, strict=True))
    return Placement(placed, top(blocks, offsets), proved)


def _is_exhaustive(buffers: Sequence[Buffer], alignment: int) -> bool:
    """The searches try every plan.

    They do not where an output may begin behind the start of an input, or has the choice between
    the place of an input and others.
    """
    return not any(
        b.onto or any(aligned(distance, alignment) < 0 for _, distance in b.over) for b in buffers
    )


def _place(blocks: Blocks, bound: int, *, exact: bool) -> tuple[tuple[int, ...], bool]:
    """Offsets of the blocks, and whether it is proved that no smaller arena is possible.

    Args:
        blocks: The blocks.
        bound: Bytes below which there is no placement.
        exact: Search for something smaller until that is proved, or the limit is reached.
    """
    best = min(greedy_placements(blocks), key=lambda offsets: top(blocks, offsets))
    for order in greedy_orders(blocks):
        if top(blocks, best) == bound:
            break
        found, final = place_within(blocks, bound, order, QUICK_NODES)
        best = found or best
        if final:
            break
    if top(blocks, best) > bound:
        best = improve(blocks, best, bound)
    proved = top(blocks, best) == bound
    while exact and not proved:
        better, final = place_within(blocks, top(blocks, best) - 1, greedy_orders(blocks)[0], NODES)
        if better is None:
            return best, final
        best, proved = better, top(blocks, better) == bound
    return best, proved


def survives(name: str, buffers: tuple[Buffer, ...]) -> bool:
    """Whether nothing is written over an input."""
    (own,) = (b for b in buffers if b.name == name and not b.is_scratch)
    return all(
        b is own or b.offset >= own.offset + own.nbytes or own.offset >= b.offset + b.nbytes
        for b in buffers
    )
