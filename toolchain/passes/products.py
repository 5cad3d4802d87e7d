"""Products of activations read their operands in any layout and scale for nothing."""

from dataclasses import replace

from toolchain.ir import Graph, Op
from toolchain.ops.matmul import MatMul
from toolchain.ops.transpose import Transpose
from toolchain.ops.unary import Unary, affine_of
from toolchain.passes.edit import Edit, everywhere


def fuse_products(graph: Graph) -> Graph:
    """Take into a matrix product what only it reads, or what alone reads it.

    1. A transposed operand is walked in its own layout (attention's heads, and keys).
    2. An operand or a result times a positive number: the number joins the requantisation
       (attention's scaling).
    """
    return everywhere(_fuse, graph)


def _fuse(graph: Graph, op: Op) -> Edit | None:
    if isinstance(op, Unary):
        return _scale_after(graph, op)
    if not isinstance(op, MatMul):
        return None
    for index, x in enumerate(op.inputs[:2]):
        before = graph.producers().get(x)
        if graph.uses()[x] != 1 or len(op.outputs) != 1:
            continue
        fused: MatMul | None = None
        if isinstance(before, Transpose):
            fused = _walked(graph, op, index, before)
        elif isinstance(before, Unary) and graph.types[x].quant is None:
            fused = _scaled(op, index, before)
        if fused is not None:
            assert before is not None
            return Edit([before, op], [fused])
    return None


def _replaced(op: MatMul, index: int, name: str) -> tuple[str, ...]:
    return tuple(name if i == index else x for i, x in enumerate(op.inputs))


def _walked(graph: Graph, op: MatMul, index: int, turn: Transpose) -> MatMul | None:
    own = (op.a_perm, op.b_perm)[index]
    perm = tuple(turn.perm[i] for i in own) if own else turn.perm
    inputs = _replaced(op, index, turn.x)
    if index == 0:
        fused = replace(op, inputs=inputs, a_perm=perm)
    else:
        fused = replace(op, inputs=inputs, b_perm=perm)
    return fused if fused.walk(graph.types) is not None else None


def _factor(op: Unary) -> float | None:
    """The positive number an operator multiplies with, if that is all it does."""
    affine = affine_of(op.expression)
    return affine[0] if affine is not None and affine[0] > 0 and affine[1] == 0 else None


def _scaled(op: MatMul, index: int, before: Unary) -> MatMul | None:
    factor = _factor(before)
    if factor is None:
        return None
    return replace(op, inputs=_replaced(op, index, before.x), gain=op.gain * factor)


def _scale_after(graph: Graph, op: Unary) -> Edit | None:
    product = graph.producers().get(op.x)
    factor = _factor(op)
    if factor is None or not isinstance(product, MatMul) or graph.uses()[op.x] != 1:
        return None
    if len(product.inputs) > 2 or (product.low, product.high) != (None, None):
        return None
    if graph.types[op.x].quant is not None:  # stated by the model: rounding there is wanted
        return None
    fused = replace(product, gain=product.gain * factor, outputs=op.outputs)
    return Edit([product, op], [fused])
