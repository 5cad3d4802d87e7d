"""Gather: cells at constant indices along one axis."""

import numpy as np

from toolchain.ir import Builder, Node, Origin, Unsupported, imports
from toolchain.ops._axes import axis_of
from toolchain.ops.reshape import Reshape
from toolchain.ops.take import emit_take


@imports("Gather")
def import_gather(node: Node, b: Builder) -> None:
    """Constant indices of any shape along any axis; a scalar index drops the axis."""
    shape, y = b.shape(node.input(0)), node.outputs[0]
    axis = axis_of(node.attribute("axis", 0), len(shape))
    indices = b.value(node.input(1))
    if indices is None:
        raise Unsupported("a look-up by indices that are computed at run time")
    flat = [int(i) for i in np.ravel(indices)]
    if any(not -shape[axis] <= i < shape[axis] for i in flat):
        raise Unsupported(f"an index outside axis {axis} of {shape}")
    chosen = {axis: [i % shape[axis] for i in flat]}
    if indices.ndim == 1:
        emit_take(b, node, node.input(0), y, chosen)
        return
    taken = emit_take(b, node, node.input(0), b.fresh(f"{y}.taken"), chosen, Origin(y))
    result = (*shape[:axis], *indices.shape, *shape[axis + 1 :])
    b.emit(Reshape(node.name, (taken,), (y,), result))
