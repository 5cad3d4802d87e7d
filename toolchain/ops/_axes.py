"""Axis numbers of ONNX attributes, checked: a wrong one is refused, never wrapped around."""

from collections.abc import Iterable

from toolchain.ir import Unsupported


def axis_of(value: int, rank: int) -> int:
    """An axis in [-rank, rank - 1] as one in [0, rank - 1].

    Raises:
        Unsupported: There is no such axis.
    """
    axis = int(value)
    if not -rank <= axis < rank:
        raise Unsupported(f"axis {axis} of a tensor of {rank} dimensions")
    return axis % rank


def axes_of(values: Iterable[int], rank: int) -> tuple[int, ...]:
    """axis_of for each value, in ascending order.

    Raises:
        Unsupported: There is no such axis, or one is given twice.
    """
    axes = tuple(sorted(axis_of(v, rank) for v in values))
    if len(set(axes)) < len(axes):
        raise Unsupported(f"an axis is given twice in {axes}")
    return axes
