"""The order of the operators: the lowest peak of live bytes that a bounded search finds.

The search runs over sets of executed operators, all sets of one size at a time. What is live
depends on the set alone, so one best way to reach each set is enough (dynamic programming). When a
size has more than WIDTH sets, the best WIDTH stay (beam search).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from toolchain.ir import Graph, Op
from toolchain.plan.lifetimes import (
    aligned,
    bytes_in_use,
    most_shared,
    overlaps,
    taken_over,
    view_roots,
)
from toolchain.select import Choice

WIDTH = 200


def schedule(
    graph: Graph,
    choices: Mapping[str, Choice] | None = None,
    alignment: int = 4,
    keep_inputs: bool = False,
) -> Graph:
    """The graph with its operators in an order of lower peak, or as it is when none is found.

    The same graph gives the same order, and the peak is never above that of the given order.

    Args:
        graph: Operators in any valid order.
        choices: Kernel of every operator that computes, by its first output: what may overlap its
            inputs and needs scratch memory. Without it nothing does.
        alignment: Alignment of every buffer, bytes.
        keep_inputs: Inputs survive the run.
    """
    choices = choices or {}

    def peak(candidate: Graph) -> int:
        return max(bytes_in_use(candidate, choices, alignment, keep_inputs))

    own = peak(graph)
    order = _Search(graph, choices, alignment, keep_inputs).run(own)
    if order is None:
        return graph
    found = replace(graph, ops=order)
    return found if peak(found) < own else graph


@dataclass(frozen=True, slots=True)
class _State:
    """One way to execute a set of operators; bit i of a mask stands for operator i."""

    peak: int
    live: int
    ready: int
    path: tuple["_State", int] | None


class _Search:
    def __init__(
        self, graph: Graph, choices: Mapping[str, Choice], alignment: int, keep_inputs: bool
    ) -> None:
        self.graph, self.choices, self.alignment = graph, choices, alignment
        self.ops = [op for op in graph.ops if not op.is_view]
        self.roots = roots = view_roots(graph)
        self.size = {
            root: 0 if root in graph.constants else aligned(graph.types[root].nbytes, alignment)
            for root in roots.values()
        }
        self.kept = {roots[y] for y in (*graph.outputs, *(graph.inputs if keep_inputs else ()))}
        self.reads = [tuple(dict.fromkeys(roots[x] for x in op.inputs)) for op in self.ops]
        self.readers = dict.fromkeys(self.size, 0)
        for i, read in enumerate(self.reads):
            for root in read:
                self.readers[root] |= 1 << i
        # Bytes an operator adds while it runs (scratch included), and bytes that stay after it.
        self.written = [
            sum(self.size[y] for y in op.outputs)
            + (aligned(choices[op.y].scratch, alignment) if op.y in choices else 0)
            for op in self.ops
        ]
        self.lasting = [
            sum(self.size[y] for y in op.outputs if self.readers[y] or y in self.kept)
            for op in self.ops
        ]
        makers = {y: i for i, op in enumerate(self.ops) for y in op.outputs}
        self.needs = [
            sum(1 << i for i in {makers[r] for r in rs if r in makers}) for rs in self.reads
        ]

    def run(self, limit: int) -> tuple[Op, ...] | None:
        """All operators in an order whose peak is below the limit, or None."""
        inputs = {x for x in self.graph.inputs if self.readers[x] or x in self.kept}
        start = sum(self.size[x] for x in inputs)
        floor = max(start, *map(self._least, range(len(self.ops)))) if self.ops else start
        if floor >= limit:
            return None
        ready = sum(1 << i for i, needs in enumerate(self.needs) if not needs)
        states = {0: _State(floor, start, ready, None)}
        for _ in self.ops:
            following: dict[int, _State] = {}
            for done, state in states.items():
                for i, after in self._moves(done, state, limit):
                    known = following.get(done | 1 << i)
                    if known is None or after.peak < known.peak:
                        following[done | 1 << i] = after
            best = sorted(following.items(), key=lambda item: (item[1].peak, item[1].live))
            states = dict(best[:WIDTH])
        return self._with_views(next(iter(states.values()))) if states else None

    def _moves(self, done: int, state: _State, limit: int) -> list[tuple[int, _State]]:
        """The states one operator further whose peak is below the limit.

        An operator that neither raises the peak nor leaves more behind can run at once: in any
        order that runs it later it could move here and nothing would grow.
        """
        moves = []
        for i in _bits(state.ready):
            peak, live = self._execute(i, done, state.live)
            if peak < limit:
                ready = state.ready & ~(1 << i)
                for y in self.ops[i].outputs:
                    for reader in _bits(self.readers[y]):
                        if not self.needs[reader] & ~(done | 1 << i):
                            ready |= 1 << reader
                after = _State(max(state.peak, peak), live, ready, (state, i))
                if peak <= state.peak and live <= state.live:
                    return [(i, after)]
                moves.append((i, after))
        return moves

    def _least(self, i: int) -> int:
        """Bytes live while operator i runs, in any order at least."""
        return self._execute(i, -1, sum(self.size[r] for r in self.reads[i]))[0]

    def _execute(self, i: int, done: int, live: int) -> tuple[int, int]:
        """Bytes live while operator i runs, and after it."""
        op, left = self.ops[i], ~(done | 1 << i)
        dying = {r for r in self.reads[i] if not self.readers[r] & left and r not in self.kept}
        choice = self.choices.get(op.y)
        during = live + self.written[i]
        if taken_over(self.graph, op, choice, self.roots, dying) is not None:
            during -= self.size[op.y]
        elif choice is not None and choice.overlap:
            nbytes = self.graph.types[op.y].nbytes
            over = overlaps(self.graph, op, choice.overlap, nbytes, self.roots, dying)
            partners = [(self.size[r], aligned(d, self.alignment)) for r, d in over.items()]
            during -= most_shared(self.size[op.y], partners)
        return during, live + self.lasting[i] - sum(self.size[r] for r in dying)

    def _with_views(self, state: _State) -> tuple[Op, ...]:
        """The operators on the way to a state, each followed by the views of its outputs."""
        computed: list[Op] = []
        while state.path is not None:
            state, i = state.path
            computed.append(self.ops[i])
        views: dict[str, list[Op]] = {}
        for op in self.graph.ops:
            if op.is_view:
                views.setdefault(self.roots[op.x], []).append(op)
        order = [v for x in (*self.graph.inputs, *self.graph.constants) for v in views.get(x, ())]
        for op in reversed(computed):
            order += [op, *(view for y in op.outputs for view in views.get(y, ()))]
        return tuple(order)


def _bits(mask: int) -> Iterator[int]:
    """Positions of the set bits, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
