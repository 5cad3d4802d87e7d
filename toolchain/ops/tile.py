"""Tile and Expand: a tensor repeated along its axes."""

import numpy as np

from toolchain.ir import Builder, Node, Unsupported, imports
from toolchain.ops.reshape import Reshape
from toolchain.ops.take import emit_take


@imports("Tile")
def import_tile(node: Node, b: Builder) -> None:
    """Constant repeats for every axis, since opset 6."""
    shape = b.shape(node.input(0))
    if node.opset < 6:
        raise Unsupported("Tile of an opset before 6", "convert the model to a newer opset")
    repeats = [int(r) for r in np.ravel(b.required(node, 1, "the list of repeats"))]
    if len(repeats) != len(shape) or min(repeats, default=1) < 1:
        raise Unsupported(f"repeats {repeats} of a tensor {shape}")
    chosen = {
        axis: list(range(n)) * r for axis, (n, r) in enumerate(zip(shape, repeats, strict=True))
    }
    emit_take(b, node, node.input(0), node.outputs[0], chosen)


@imports("Expand")
def import_expand(node: Node, b: Builder) -> None:
    """Broadcast to a constant shape."""
    x = b.activation(node.input(0))
    wanted = tuple(int(n) for n in np.ravel(b.required(node, 1, "the target shape")))
    shape = b.shape(x)
    try:
        result = np.broadcast_shapes(shape, wanted)
    except ValueError as error:
        raise Unsupported(f"{shape} does not broadcast to {wanted}") from error
    if len(shape) < len(result):
        view = (1,) * (len(result) - len(shape)) + shape
        known = b.origins.get(x)
        x = b.emit(Reshape(node.name, (x,), (b.fresh(f"{x}.ranked"),), view), known)
        shape = view
    chosen = {i: [0] * n for i, n in enumerate(result) if n != shape[i]}
    emit_take(b, node, x, node.outputs[0], chosen)
