"""Transposes, reshapes and takes that do nothing, or that merge with their neighbour."""

from dataclasses import replace

from toolchain.ir import Graph, Op
from toolchain.ops.reshape import Reshape
from toolchain.ops.take import Take
from toolchain.ops.transpose import Transpose
from toolchain.passes.copies import merge_takes, merge_transposes, shuffle
from toolchain.passes.edit import Edit, bypass, everywhere


def simplify_views(graph: Graph) -> Graph:
    """Remove and merge transposes and reshapes.

    1. A transpose or reshape of a constant is computed.
    2. A reshape to the same shape, or an identity permutation, goes.
    3. A transpose that moves only dimensions of size 1 is a reshape.
    4. A transpose of a transpose, a reshape of a reshape: one of them.
    5. Two views of one tensor that are alike: one of them.
    6. Operators whose outputs nobody reads go.
    """
    return _without_dead(everywhere(_simplify, graph))


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
    return _merge(graph, op)


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


def _without_dead(graph: Graph) -> Graph:
    wanted, ops = set(graph.outputs), []
    for op in reversed(graph.ops):
        if wanted & set(op.outputs):
            ops.append(op)
            wanted.update(op.inputs)
    return graph.with_ops(ops[::-1])
