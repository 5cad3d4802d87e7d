"""What the searches for layers that run row by row begin with."""

from collections.abc import Mapping

from toolchain.ir import Graph, Target
from toolchain.plan.lifetimes import bytes_in_use
from toolchain.plan.wish import Wish
from toolchain.rows import Segment, Segments, head_of, with_segments, without_head
from toolchain.select import Choice

ANY = 1 << 40
"""A limit that is none."""


class Ground:
    """A graph with whole tensors, and what its neighbours need as one segment.

    Args:
        graph: Quantised graph, in the order it runs.
        choices: Its kernels.
        target: Instruction set and family.
        wish: What for, but for the size.
        by_rows: The caller hands the input, an image, over row by row: what reads it cannot run
            alone.
    """

    def __init__(
        self,
        graph: Graph,
        choices: Mapping[str, Choice],
        target: Target,
        wish: Wish,
        *,
        by_rows: bool,
    ) -> None:
        head = head_of(graph) if by_rows else None
        self.graph = graph if head is None else without_head(graph, head)
        self.choices = choices
        self.alignment = target.alignment
        self.keep_inputs = wish.keep_inputs and not by_rows
        self.segments = Segments(self.graph, target, wish.optimize, head)
        self.alone = self.live(self.graph, choices)
        """Bytes in use while each operator runs by itself; more than ANY where it cannot."""
        for i, op in enumerate(self.graph.ops):
            if head is not None and head.image in op.inputs:
                self.alone[i] = ANY + 1

    def live(self, graph: Graph, choices: Mapping[str, Choice]) -> list[int]:
        """Bytes in use while each operator of a graph runs, at least."""
        return bytes_in_use(graph, choices, self.alignment, self.keep_inputs)

    def peak(self, segment: Segment) -> int:
        """Bytes in use while a segment runs that takes the place of its parts, at least."""
        return self.live(*with_segments(self.graph, self.choices, [segment]))[segment.first]
