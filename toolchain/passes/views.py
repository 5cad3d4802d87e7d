"""Transposes and reshapes that do nothing, or that merge with their neighbour."""

from dataclasses import replace

from toolchain.ir import Graph, Op
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose
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
    if not isinstance(op, Reshape | Transpose):
        return None
    if graph.is_constant(op.x) and op.y not in graph.outputs:
        (value,) = op.evaluate(graph.constants[op.x])
        return Edit([op], constants={op.y: value})
    shape = graph.types[op.x].shape
    if isinstance(op, Transpose) and op.perm != tuple(range(len(shape))):
        order = [p for p in op.perm if shape[p] != 1]
        if order == sorted(order):
            return Edit([op], [Reshape(op.name, op.inputs, op.outputs, graph.types[op.y].shape)])
    elif graph.types[op.y].shape == shape:
        return bypass(graph, op)
    return _twin(graph, op) or _merge(graph, op)


def _twin(graph: Graph, op: Reshape | Transpose) -> Edit | None:
    """Case 5: an earlier operator that makes the same of the same tensor."""
    if op.y in graph.outputs:
        return None
    for other in graph.consumers()[op.x]:
        if other is op:
            return None
        if other == replace(op, name=other.name, outputs=other.outputs):
            return Edit([op], rename={op.y: other.y})
    return None


def _merge(graph: Graph, op: Reshape | Transpose) -> Edit | None:
    before = graph.producers().get(op.x)
    if isinstance(op, Reshape) and isinstance(before, Reshape):
        return Edit([op], [replace(op, inputs=before.inputs)])
    if isinstance(op, Transpose) and isinstance(before, Transpose):
        perm = tuple(before.perm[p] for p in op.perm)
        return Edit([op], [replace(op, inputs=before.inputs, perm=perm)])
    return None


def _without_dead(graph: Graph) -> Graph:
    wanted, ops = set(graph.outputs), []
    for op in reversed(graph.ops):
        if wanted & set(op.outputs):
            ops.append(op)
            wanted.update(op.inputs)
    return graph.with_ops(ops[::-1])
