"""Several operators that run row by row as one: a node of the graph that owns them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from toolchain.ir import Array, Example, Graph, Op, Types
from toolchain.rows.head import Head


@dataclass(frozen=True, slots=True)
class Streamed(Op):
    """Neighbours in the order of the graph; only what others read exists whole.

    Inputs are the tensors and constants the parts read from outside, and output 0 is what they
    give. Made after kernel selection, never imported or stored: `flattened` gives the parts back.

    Args:
        parts: The operators, in order.
        head: Where the caller hands over rows: the way from the input of the model to what they are
            rows of, which is no tensor of the graph then.
    """

    parts: tuple[Op, ...]
    head: Head | None = None

    @property
    def fed(self) -> str | None:
        """The image whose rows the caller hands over."""
        return None if self.head is None else self.head.image

    @property
    def layers(self) -> tuple[Op, ...]:
        """The parts, and before them what the caller does in the place of a layer."""
        before = () if self.head is None else self.head.ops
        return tuple(op for op in (*before, *self.parts) if not op.is_view)

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the part that writes it says."""
        return tuple(types[y].shape for y in self.outputs)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """One part after the other."""
        known = dict(zip(self.inputs, values, strict=True))
        for op in self.parts:
            known.update(zip(op.outputs, op.evaluate(*(known[x] for x in op.inputs)), strict=True))
        return tuple(known[y] for y in self.outputs)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """One part after the other."""
        return self.results(types, dict(zip(self.inputs, codes, strict=True)))

    def results(self, types: Types, given: Mapping[str, Array]) -> tuple[Array, ...]:
        """The same for values by name, those of the fed input among them."""
        known = dict(given)
        for op in self.parts:
            result = op.simulate(types, *(known[x] for x in op.inputs))
            known.update(zip(op.outputs, result, strict=True))
        return tuple(known[y] for y in self.outputs)

    def macs(self, types: Types) -> int:
        """Those of the parts: no row is computed twice."""
        return sum(op.macs(types) for op in self.parts)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """It is not in the registry."""
        raise NotImplementedError


def streamed(graph: Graph, first: int, last: int, head: Head | None = None) -> Streamed | None:
    """Operators first to last, both included, as one; None unless they give one tensor.

    Args:
        graph: Operators in the order they run.
        first: Index of the first.
        last: Index of the last.
        head: Of an input of the graph that comes row by row, and that nobody else may read.
    """
    fed = None if head is None else head.image
    parts = graph.ops[first : last + 1]
    made = [y for op in parts for y in op.outputs]
    outside = {x for op in (*graph.ops[:first], *graph.ops[last + 1 :]) for x in op.inputs}
    seen = [y for y in made if y in outside or y in graph.outputs]
    inputs = dict.fromkeys(x for op in parts for x in op.inputs if x not in made)
    if seen != [parts[-1].y] or fed in {*outside, *graph.outputs}:
        return None
    whole = tuple(x for x in inputs if x != fed)
    last_op = parts[-1]
    return Streamed(last_op.name, whole, (last_op.y,), parts, head, rounding=last_op.rounding)


def replaced(graph: Graph, segments: list[tuple[int, Streamed]]) -> Graph:
    """The graph with segments in the place of their parts; all types stay.

    Args:
        graph: Operators in the order they run.
        segments: Index of the first part and the segment, in order.
    """
    ops: list[Op] = []
    position = 0
    for first, segment in segments:
        ops += [*graph.ops[position:first], segment]
        position = first + len(segment.parts)
    fed = {segment.fed for _, segment in segments}
    inputs = tuple(x for x in graph.inputs if x not in fed)
    return replace(graph, ops=(*ops, *graph.ops[position:]), inputs=inputs)


def flattened(graph: Graph) -> Graph:
    """The graph with the parts in the place of the segments."""
    segments = (op for op in graph.ops if isinstance(op, Streamed))
    fed = tuple(op.head.x for op in segments if op.head is not None)
    return replace(graph, ops=tuple(_parts(graph)), inputs=(*fed, *graph.inputs))


def _parts(graph: Graph) -> Iterator[Op]:
    for op in graph.ops:
        if isinstance(op, Streamed):
            yield from () if op.head is None else op.head.ops
            yield from op.parts
        else:
            yield op
