"""Which bytes of the arena hold nothing that is read later, at every step of a plan."""

from collections.abc import Iterable, Iterator

from toolchain.ir import Graph
from toolchain.plan.arena import Plan
from toolchain.plan.lifetimes import Buffer

Span = tuple[int, int]
"""Offset and number of bytes."""


def dead_spans(graph: Graph, plan: Plan) -> tuple[tuple[Span, ...], ...]:
    """The bytes that may hold anything before each step, and before the caller reads the outputs.

    All but those of inputs and of values that were written at an earlier step, as long as a step
    to come needs them: so the memory of outputs and all scratch memory are among them. A segment
    that runs row by row is one step. No span lies in two parts of the arena.

    Args:
        graph: Operators in the order they run.
        plan: Its plan.

    Returns:
        One tuple per operator, views included, and one for the end; each by offset.
    """
    steps = [
        [b for b in plan.buffers if b.last >= step and (b.first < step or b.name in graph.inputs)]
        for step in range(len(graph.ops))
    ]
    outputs = set(graph.outputs)
    steps.append([b for b in plan.buffers if outputs & set(b.tensors)])
    borders = [part.end for part in plan.parts] or [plan.arena_bytes]
    return tuple(tuple(_between(alive, borders)) for alive in steps)


def _between(alive: Iterable[Buffer], borders: list[int]) -> Iterator[Span]:
    """What no buffer covers, cut at the borders; the last border is the end of the arena."""
    taken = sorted((b.offset, b.offset + b.nbytes) for b in alive if not b.is_scratch)
    position = 0
    for start, stop in sorted((*taken, *((border, border) for border in borders))):
        if start > position:
            yield position, start - position
        position = max(position, stop)
