"""Transposes seen through reshapes: the common refinement of two shapes."""

from collections.abc import Sequence

Groups = list[list[int]]
"""For every axis of a shape, the axes of the refined shape it consists of."""


def refine(first: Sequence[int], second: Sequence[int]) -> tuple[list[int], Groups, Groups] | None:
    """The coarsest shape of which both shapes are merged forms, with the groups of each.

    [2, 12] and [6, 4] have [2, 3, 4]; [2, 3] and [3, 2] have none. Dimensions of 1 are left out:
    their groups are empty.
    """
    fine: list[int] = []
    groups: tuple[Groups, Groups] = ([], [])
    shapes = [list(first), list(second)]
    for side in (0, 1):
        groups[side].extend([] for _ in shapes[side])
    axes = [_next(shapes[side], 0) for side in (0, 1)]
    left = [_size(shapes[side], axes[side]) for side in (0, 1)]
    while axes[0] < len(shapes[0]) and axes[1] < len(shapes[1]):
        small = min(left)
        if left[0] % small or left[1] % small:
            return None
        for side in (0, 1):
            groups[side][axes[side]].append(len(fine))
            left[side] //= small
            if left[side] == 1:
                axes[side] = _next(shapes[side], axes[side] + 1)
                left[side] = _size(shapes[side], axes[side])
        fine.append(small)
    return fine, *groups


def _next(shape: list[int], axis: int) -> int:
    """The first axis from `axis` on that is not of size 1."""
    while axis < len(shape) and shape[axis] == 1:
        axis += 1
    return axis


def _size(shape: list[int], axis: int) -> int:
    return shape[axis] if axis < len(shape) else 1
