"""Any tensor as [N, H, W, C] with a chosen axis as C, and back: how per-axis operators are read."""

from math import prod

from toolchain.ir import Builder, Node, Origin
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose


def channels_last(b: Builder, node: Node, x: str, axis: int) -> tuple[str, tuple[int, ...] | None]:
    """x as [1, H, W, C] with `axis` last, and the permutation that was needed (None: none).

    A rank-4 tensor keeps its two inner dimensions, so that spatial neighbours stay fusable.
    """
    x = b.activation(x)
    rank = len(b.shape(x))
    axis %= rank
    perm: tuple[int, ...] | None = None
    known = b.origins.get(x) == Origin(x)
    if axis != rank - 1:
        perm = (*(i for i in range(rank) if i != axis), axis)
        x = b.emit(
            Transpose(node.name, (x,), (b.fresh(f"{x}.last"),), perm),
            Origin(x, perm) if known else None,
        )
    shape = b.shape(x)
    if rank != 4 or shape[0] != 1:
        base = x
        view = (1, 1, prod(shape[:-1]), shape[-1])
        source = b.origins.get(x)
        x = b.emit(Reshape(node.name, (x,), (b.fresh(f"{base}.view"),), view), source)
    return x, perm


def restore(
    b: Builder, node: Node, x: str, y: str, perm: tuple[int, ...] | None, shape: tuple[int, ...]
) -> None:
    """Emit what turns the result `x` of a channels_last view into the ONNX tensor `y`.

    Args:
        b: Graph under construction.
        node: ONNX node it comes from.
        x: [1, H, W, C] result.
        y: ONNX output name.
        perm: The permutation channels_last used.
        shape: Shape of `y`.
    """
    arranged = shape if perm is None else tuple(shape[p] for p in perm)
    if b.shape(x) != arranged or perm is None:
        name = y if perm is None else b.fresh(f"{y}.last")
        x = b.emit(Reshape(node.name, (x,), (name,), arranged), Origin(y, perm))
    if perm is not None:
        inverse = tuple(perm.index(i) for i in range(len(perm)))
        b.emit(Transpose(node.name, (x,), (y,), inverse))
