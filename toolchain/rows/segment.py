"""A run of operators as one that works row by row: the node, its kernel, its memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolchain.ir import Graph, Kernel, Op, Target, TensorType
from toolchain.rows.feed import feed_of
from toolchain.rows.head import Head
from toolchain.rows.layout import Layout
from toolchain.rows.planner import layout_of
from toolchain.rows.schedule import order_of
from toolchain.rows.stages import Stage, stages_of
from toolchain.rows.streamed import Streamed, replaced, streamed
from toolchain.select import Choice, Optimize

SAVED = 5
"""A search makes a segment smaller than estimated by a fifth at most: hardly ever by more."""

_MOVE = "glue_move_down_s8.c"


@dataclass(frozen=True, slots=True)
class RowChoice(Choice):
    """What runs a segment: its calls and their memory, which the planner sees as scratch memory.

    Args:
        layout: Stages, actions and memory.
        costs: Instructions of every layer as the cost table expects, by its output.
    """

    layout: Layout = field(kw_only=True)
    costs: Mapping[str, int | None] = field(kw_only=True)

    def at_bound(self, op: Streamed, types: Mapping[str, TensorType]) -> "RowChoice":
        """The same with so little memory that no placement of its rows takes less.

        Args:
            op: The segment.
            types: Types of all tensors.
        """
        beneath = {i: self.layout.beneath(op.inputs[i], types, least=True) for i in self.beneath}
        return replace(self, scratch=self.layout.bound, beneath=beneath)


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of operators of a graph.

    Args:
        first: Index of the first operator.
        op: The node that owns them.
        choice: What runs them.
        least: The same with the least memory that a search may find.
    """

    first: int
    op: Streamed
    choice: RowChoice
    least: RowChoice


def with_segments(
    graph: Graph, choices: Mapping[str, Choice], segments: Sequence[Segment]
) -> tuple[Graph, dict[str, Choice]]:
    """A graph and its kernels with segments in the place of their parts.

    Args:
        graph: Operators in the order they run.
        choices: Their kernels; those of the parts stay, unused.
        segments: In order.
    """
    run = replaced(graph, [(segment.first, segment.op) for segment in segments])
    return run, {**choices, **{segment.op.y: segment.choice for segment in segments}}


class Segments:
    """The segments of one graph; what belongs to an operator alone is found once.

    Args:
        graph: Operators in the order they run.
        target: Instruction set and family.
        optimize: What kernels are chosen for.
        head: Of the input where it comes row by row; the first segment takes the rows. The graph is
            without it.
    """

    def __init__(
        self,
        graph: Graph,
        target: Target,
        optimize: Optimize = Optimize.SPEED,
        head: Head | None = None,
    ) -> None:
        self.graph, self.target, self.optimize, self.head = graph, target, optimize, head
        self._stages: dict[tuple[str, int], tuple[Stage, ...] | None] = {}

    def stages(self, op: Op, band: int = 1) -> tuple[Stage, ...] | None:
        """The stages of an operator that computes so many rows a call, or None."""
        key = op.y, band
        if key not in self._stages:
            self._stages[key] = stages_of(op, self.graph, self.target, self.optimize, band)
        return self._stages[key]

    def node(self, first: int, last: int) -> Streamed | None:
        """Operators first to last as one, whether they can run row by row or not.

        None unless they give one tensor.
        """
        return streamed(self.graph, first, last, self.head if first == 0 else None)

    def segment(
        self, first: int, last: int, band: int = 1, *, search: bool = True
    ) -> Segment | None:
        """Operators first to last as one; None when they cannot run row by row.

        Args:
            first: Index of the first.
            last: Index of the last.
            band: Rows that a call computes.
            search: Look longer for a small placement.
        """
        op = self.node(first, last)
        parts = [self.stages(part, band) for part in self.graph.ops[first : last + 1]]
        known = [stages for stages in parts if stages is not None]
        if op is None or len(known) < len(parts):
            return None
        stages = [stage for stages in known for stage in stages]
        if op.fed is not None:
            stages.insert(0, feed_of(self.graph.types[op.fed], op.fed))
        orders = dict.fromkeys(order_of(stages, late=late) for late in (False, True))
        found = [layout_of(stages, o, self.target.alignment, search=search) for o in orders]
        choice = self._choice(op, min(found, key=lambda layout: layout.nbytes))
        return Segment(first, op, choice, self._least(op, choice, found))

    def _least(self, op: Streamed, choice: RowChoice, found: Sequence[Layout]) -> RowChoice:
        types, saved = self.graph.types, choice.scratch // SAVED
        beneath = {
            i: max(
                min(layout.beneath(op.inputs[i], types, least=True) for layout in found), d - saved
            )
            for i, d in choice.beneath.items()
        }
        scratch = max(min(layout.bound for layout in found), choice.scratch - saved)
        return replace(choice, scratch=scratch, beneath=beneath)

    def _choice(self, op: Streamed, layout: Layout) -> RowChoice:
        forms = [form for stage in layout.stages for form in stage.forms]
        sources = {_MOVE, *(source for form in forms for source in form.choice.kernel.sources)}
        kernel = Kernel("rows", "", tuple(sorted(sources)))
        costs: dict[str, int | None] = {part.y: 0 for part in op.parts}
        for stage in layout.stages:
            known, more = costs.get(stage.op.y), stage.predicted
            costs[stage.op.y] = None if known is None or more is None else known + more
        types = self.graph.types
        overlap = {
            i: layout.distance(x, types) for i, x in enumerate(op.inputs) if x in layout.rows
        }
        return RowChoice(
            kernel,
            layout.nbytes,
            (),
            overlap,
            (),
            beneath={i: layout.beneath(op.inputs[i], types) for i in overlap},
            layout=layout,
            costs=costs,
        )
