"""Transposes, reshapes and takes that do nothing, or that merge with their neighbour."""

from dataclasses import replace

from toolchain.ir import Graph, Op
from toolchain.ops.reshape import Reshape
from toolchain.ops.take import Take
from toolchain.ops.transpose import Transpose
from toolchain.passes.copies import live_ops, merge_takes, merge_transposes, shuffle
from toolchain.passes.edit import Edit, bypass, everywhere


def simplify_views(graph: Graph) -> Graph:
    """Remove and merge transposes, reshapes and takes.

    1. A transpose, reshape or take of a constant is computed.
    2. A reshape to the same shape, an identity permutation, a take of everything go.
    3. A transpose that moves only dimensions of size 1 is a reshape.
    4. Two transposes, reshapes or takes in a row are one; so are two transposes with a reshape
       between them whose dimensions are products of common factors.
    5. Two views of one tensor that are alike: one of them.
    6. A transpose between reshapes that only mixes cells within axes (channel shuffle) is a take.
    7. Operators whose outputs nobody reads go.
    """
    graph = everywhere(_simplify, graph)
    return graph.with_ops(live_ops(graph))


def _simplify(graph: Graph, op: Op) -> Edit | None:
    if not isinstance(op, Reshape | Transpose | Take):
        return None
    if graph.is_constant(op.x) and op.y not in graph.outputs:
        (value,) = op.evaluate(graph.constants[op.x])
        return Edit([op], constants={op.y: value})
    if _does_nothing(graph, op):
        return bypass(graph, op)
    if isinstance(op, Transpose):
        shape = graph.types[op.x].shape
        order = [p for p in op.perm if shape[p] != 1]
        if order == sorted(order):
            return Edit([op], [Reshape(op.name, op.inputs, op.outputs, graph.types[op.y].shape)])
    return _twin(graph, op) or _merge(graph, op)


def _twin(graph: Graph, op: Reshape | Transpose | Take) -> Edit | None:
    """The views before this one that make the same of the same tensor: it is not needed."""
    if op.y in graph.outputs:
        return None
    for other in graph.consumers()[op.x]:
        if other is op:
            return None
        if other == replace(op, name=other.name, outputs=other.outputs):
            return Edit([op], rename={op.y: other.y})
    return None


def _does_nothing(graph: Graph, op: Reshape | Transpose | Take) -> bool:
    if isinstance(op, Transpose):
        return op.perm == tuple(range(len(op.perm)))
    if isinstance(op, Take):
        return all(cells is None for cells in op.indices)
    return op.shape == graph.types[op.x].shape


def _merge(graph: Graph, op: Reshape | Transpose | Take) -> Edit | None:
    before = graph.producers().get(op.x)
    if isinstance(op, Take):
        return merge_takes(graph, op)
    if isinstance(op, Reshape):
        if isinstance(before, Reshape):
            return Edit([op], [replace(op, inputs=before.inputs)])
        return shuffle(graph, op)
    if isinstance(before, Transpose):
        perm = tuple(before.perm[p] for p in op.perm)
        return Edit([op], [replace(op, inputs=before.inputs, perm=perm)])
    return merge_transposes(graph, op)
