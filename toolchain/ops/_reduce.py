"""Reductions over any axes: how nodes state them, and how the kernels see them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from toolchain.ir import Builder, Node, Op, Origin, Unsupported
from toolchain.ops._axes import axes_of
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose

Make = Callable[[str, str, tuple[int, ...]], Op]


@dataclass(frozen=True, slots=True)
class Reduction:
    """What a Reduce node asks for.

    Args:
        axes: Axes that are reduced, ascending; none: the node hands its input on.
        shape: Shape of the output.
    """

    axes: tuple[int, ...]
    shape: tuple[int, ...]


def read_reduction(node: Node, b: Builder) -> Reduction:
    """Axes (an attribute, in later opsets input 1; all when left out) and the output shape."""
    shape = b.shape(node.input(0))
    given = node.attribute("axes")
    if given is None and node.input(1):
        given = b.required(node, 1, "the list of axes")
    if given is None or len(np.ravel(given)) == 0:
        if node.attribute("noop_with_empty_axes", 0):
            return Reduction((), shape)
        given = tuple(range(len(shape)))
    axes = axes_of(np.ravel(given), len(shape))
    keep = node.attribute("keepdims", 1)
    out = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
    return Reduction(axes, out)


def reduced_shape(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """The shape with the reduced axes of size 1."""
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def blocks(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, int, int] | None:
    """(outer, reduced, inner) when the reduced axes are neighbours but for axes of size 1."""
    long = [i for i in axes if shape[i] > 1]
    if not long:
        return prod(shape), 1, 1
    first, last = min(long), max(long)
    if any(shape[i] > 1 and i not in axes for i in range(first, last)):
        return None
    return prod(shape[:first]), prod(shape[first : last + 1]), prod(shape[last + 1 :])


def permuted_axes(axes: Sequence[int], perm: Sequence[int]) -> tuple[int, ...] | None:
    """The axes before a transpose, when they are neighbours there too."""
    before = tuple(sorted(perm[a] for a in axes))
    return before if before == tuple(range(before[0], before[0] + len(before))) else None


def emit_reduction(node: Node, b: Builder, make: Make) -> None:
    """Emit a reduction with whatever transposes and reshapes it needs.

    Args:
        node: The node.
        b: Graph under construction.
        make: The operator for an input, an output and the axes, which it keeps with size 1.

    Raises:
        Unsupported: The node reduces nothing.
    """
    x, y = b.activation(node.input(0)), node.outputs[0]
    wanted = read_reduction(node, b)
    if not wanted.axes:
        raise Unsupported("noop_with_empty_axes", "give the axes, or leave the node out")
    shape, axes = b.shape(x), wanted.axes
    if blocks(shape, axes) is None:
        perm = (*(i for i in range(len(shape)) if i not in axes), *axes)
        known = b.origins.get(x) == Origin(x)
        turned = b.fresh(f"{x}.reduced")
        b.emit(Transpose(node.name, (x,), (turned,), perm), Origin(x, perm) if known else None)
        x, axes = turned, tuple(range(len(shape) - len(axes), len(shape)))
        shape = b.shape(x)
    if reduced_shape(shape, axes) == wanted.shape:
        b.emit(make(x, y, axes))
        return
    kept = reduced_shape(shape, axes)
    out = b.emit(make(x, b.fresh(f"{y}.kept"), axes), Origin(y, kept=kept))
    b.emit(Reshape(node.name, (out,), (y,), wanted.shape))
