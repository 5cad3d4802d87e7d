"""Products of activations read their operands in any layout and scale for nothing."""

from dataclasses import replace

from toolchain.ir import Graph, Op, TensorType
from toolchain.ops.matmul import MatMul
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose
from toolchain.ops.unary import Unary, affine_of
from toolchain.passes.edit import Edit, everywhere, fresh


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
        if graph.uses()[x] != 1:
            continue
        edit = _scaled(graph, op, index) or _walked(graph, op, index)
        if edit is not None:
            return edit
    return None


def _replaced(op: MatMul, index: int, name: str) -> tuple[str, ...]:
    return tuple(name if i == index else x for i, x in enumerate(op.inputs))


def _walked(graph: Graph, op: MatMul, index: int) -> Edit | None:
    """Case 1."""
    turn = graph.producers().get(op.inputs[index])
    if not isinstance(turn, Transpose):
        return None
    own = (op.a_perm, op.b_perm)[index]
    perm = tuple(turn.perm[i] for i in own) if own else turn.perm
    inputs = _replaced(op, index, turn.x)
    if index == 0:
        fused = replace(op, inputs=inputs, a_perm=perm)
    else:
        fused = replace(op, inputs=inputs, b_perm=perm)
    return Edit([turn, op], [fused]) if fused.walk(graph.types) is not None else None


def _factor(op: Unary) -> float | None:
    """The positive number an operator multiplies with, if that is all it does."""
    affine = affine_of(op.expression)
    return affine[0] if affine is not None and affine[0] > 0 and affine[1] == 0 else None


def _scaled(graph: Graph, op: MatMul, index: int) -> Edit | None:
    """Case 2 for an operand; views may lie between, and then hold the values before scaling."""
    producers, uses = graph.producers(), graph.uses()
    name, views = op.inputs[index], list[Reshape | Transpose]()
    while uses[name] == 1 and isinstance(view := producers.get(name), Reshape | Transpose):
        views.append(view)
        name = view.x
    before = producers.get(name)
    if not isinstance(before, Unary) or uses[name] != 1:
        return None
    factor = _factor(before)
    stated = [graph.types[n].quant for n in (before.y, *(v.y for v in views))]
    if factor is None or any(quant is not None for quant in stated):
        return None
    source, moved, types = before.x, list[Op](), dict[str, TensorType]()
    for view in reversed(views):
        plain = fresh(graph, f"{view.y}.plain")
        moved.append(replace(view, inputs=(source,), outputs=(plain,)))
        types[plain] = graph.types[view.y]
        source = plain
    fused = replace(op, inputs=_replaced(op, index, source), gain=op.gain * factor)
    return Edit([before, *views, op], [*moved, fused], types=types)


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
