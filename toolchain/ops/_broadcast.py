"""Operands of different shapes as the loops of the broadcasting kernels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from toolchain.ir import Op, Site, Types
from toolchain.ops._copies import MAX_RANK, strides


@dataclass(frozen=True, slots=True)
class Loops:
    """glue_broadcast_dims: sizes, and steps in each operand, 0 where it repeats."""

    dims: tuple[int, ...]
    a_steps: tuple[int, ...]
    b_steps: tuple[int, ...]


def loops_of(a: Sequence[int], b: Sequence[int]) -> Loops:
    """Loops over the broadcast of two shapes of one rank; axes that stay together are merged.

    Raises:
        ValueError: They do not broadcast, or need more than MAX_RANK loops.
    """
    merged: list[tuple[int, int, int]] = []
    steps = [
        [0 if n == 1 else s for n, s in zip(shape, strides(shape), strict=True)] for shape in (a, b)
    ]
    for n, s, t in zip(np.broadcast_shapes(tuple(a), tuple(b)), *steps, strict=True):
        if n == 1:
            continue
        if merged and merged[-1][1:] == (s * n, t * n):
            merged[-1] = (merged[-1][0] * n, s, t)
        else:
            merged.append((n, s, t))
    if len(merged) > MAX_RANK:
        raise ValueError(f"{a} and {b} broadcast in more than {MAX_RANK} groups of axes")
    dims, first, second = zip(*(merged or [(1, 1, 1)]), strict=True)
    return Loops(dims, first, second)


def broadcast_shape(op: Op, types: Types) -> tuple[int, ...]:
    """Shape of the result of an operator on two tensors of one rank.

    Raises:
        ValueError: The shapes do not fit, or the kernels cannot walk them.
    """
    a, b = (types[x].shape for x in op.inputs)
    if len(a) != len(b):
        raise ValueError(f"operands {a} and {b} have different ranks")
    if any(n != m and 1 not in (n, m) for n, m in zip(a, b, strict=True)):
        raise ValueError(f"operands {a} and {b} do not broadcast")
    loops_of(a, b)
    return np.broadcast_shapes(a, b)


def loops(op: Op, types: Types) -> Loops:
    """The loops of an operator on two tensors."""
    a, b = (types[x].shape for x in op.inputs)
    return loops_of(a, b)


def same_shape(site: Site) -> bool:
    """Both operands have the same shape."""
    a, b = (site.shape(x) for x in site.op.inputs)
    return bool(a == b)
