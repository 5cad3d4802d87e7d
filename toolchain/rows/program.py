"""The steps of a segment with the addresses of a plan: what the firmware executes."""

from collections.abc import Iterator, Mapping

from toolchain.rows.layout import Action, Layout, Place

Address = tuple[int, int, int, int]
"""(0, to, from, bytes) moves rows; (1 + form, y, x0, x1) computes one, offsets in the arena."""


def program_of(layout: Layout, offsets: Mapping[str, int], base: int) -> tuple[Address, ...]:
    """The program of a segment.

    Args:
        layout: The segment.
        offsets: Of its whole tensors in the arena.
        base: Of its own memory.
    """
    return tuple(_steps(layout, offsets, base))


def first_forms(layout: Layout) -> list[int]:
    """Per stage, the number of its first form when all forms are counted through."""
    counts = [len(stage.forms) for stage in layout.stages]
    return [sum(counts[:i]) for i in range(len(counts))]


def _steps(layout: Layout, offsets: Mapping[str, int], base: int) -> Iterator[Address]:
    firsts = first_forms(layout)
    for action in layout.actions:
        for shift in action.shifts:
            yield 0, base + shift.to, base + shift.start, shift.nbytes
        yield _call(action, firsts[action.stage], offsets, base)


def _call(action: Action, first: int, offsets: Mapping[str, int], base: int) -> Address:
    def at(place: Place) -> int:
        return (base if place.tensor is None else offsets[place.tensor]) + place.offset

    x0, x1 = (*(at(x) for x in action.xs), 0, 0)[:2]
    return 1 + first + action.form, at(action.y), x0, x1
