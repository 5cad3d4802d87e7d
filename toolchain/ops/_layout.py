"""From ONNX's channels-first tensors to the channels-last ones the kernels read, and back.

Importers wrap every spatial operator in a pair of transposes; the passes let neighbouring pairs
cancel. Layout is therefore always explicit in the graph and never guessed (R19).
"""

from collections.abc import Callable
from math import prod

from toolchain.ir import Builder, Node, Op, Origin, Unsupported
from toolchain.ops._axes import axis_of
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose

_TO_LAST = {3: (0, 2, 1), 4: (0, 2, 3, 1)}
_TO_FIRST = {3: (0, 2, 1), 4: (0, 3, 1, 2)}


def to_nhwc(b: Builder, node: Node, x: str) -> str:
    """[N, C, H, W] or [N, C, L] as [N, H, W, C]; a 1-D signal has H = 1."""
    shape = b.shape(x)
    if len(shape) not in _TO_LAST:
        raise Unsupported(
            f"its input {x!r} has {len(shape) - 2} spatial dimensions", "1 and 2 are supported"
        )
    x = b.activation(x)
    origin = b.origins.get(x)
    perm = _TO_LAST[len(shape)]
    last = b.fresh(f"{x}.nhwc")
    moved = Origin(x, perm) if origin == Origin(x) else None
    b.emit(Transpose(node.name, (x,), (last,), perm), moved)
    if len(shape) == 4:
        return last
    n, length, channels = b.shape(last)
    return b.emit(
        Reshape(node.name, (last,), (b.fresh(f"{x}.n1lc"),), (n, 1, length, channels)), moved
    )


def nhwc_output(b: Builder, y: str, rank: int) -> tuple[str, Origin]:
    """Name and origin of the channels-last form of the ONNX tensor `y` of the given rank."""
    return b.fresh(f"{y}.nhwc"), Origin(y, _TO_LAST[rank])


def from_nhwc(b: Builder, node: Node, x: str, y: str, rank: int) -> str:
    """Emit what turns [N, H, W, C] into the ONNX tensor `y` of the given rank."""
    if rank == 3:
        n, _, length, channels = b.shape(x)
        flat = b.fresh(f"{x}.nlc")
        x = b.emit(Reshape(node.name, (x,), (flat,), (n, length, channels)), Origin(y, _TO_LAST[3]))
    return b.emit(Transpose(node.name, (x,), (y,), _TO_FIRST[rank]))


def along_last_axis(node: Node, b: Builder, make: Callable[[str, str], Op]) -> None:
    """Emit an operator that works over the last axis, for a node with an `axis` attribute.

    Until opset 12 (Softmax, LogSoftmax) all dimensions from the axis on form one row; since then
    the axis alone does, and another axis than the last is brought there and back.

    Args:
        node: The node.
        b: Graph under construction.
        make: The operator for an input and an output name.
    """
    x, y = b.activation(node.input(0)), node.outputs[0]
    shape = b.shape(x)
    rank = len(shape)
    axis = axis_of(node.attribute("axis", 1 if node.opset < 13 else -1), rank)
    known = b.origins.get(x) == Origin(x)
    if node.opset < 13:
        rows = (prod(shape[:axis]), prod(shape[axis:]))
        if rows == shape:
            b.emit(make(x, y))
            return
        flat = b.emit(
            Reshape(node.name, (x,), (b.fresh(f"{x}.rows"),), rows), Origin(x) if known else None
        )
        out = b.emit(make(flat, b.fresh(f"{y}.rows")), Origin(y))
        b.emit(Reshape(node.name, (out,), (y,), shape))
    elif axis == rank - 1:
        b.emit(make(x, y))
    else:
        perm = (*(i for i in range(rank) if i != axis), axis)
        last = b.emit(
            Transpose(node.name, (x,), (b.fresh(f"{x}.last"),), perm),
            Origin(x, perm) if known else None,
        )
        out = b.emit(make(last, b.fresh(f"{y}.last")), Origin(y, perm))
        inverse = tuple(perm.index(i) for i in range(rank))
        b.emit(Transpose(node.name, (out,), (y,), inverse))
