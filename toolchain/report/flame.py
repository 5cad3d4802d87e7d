"""Where the instructions go, as a picture: the inference, its layers, their functions."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from toolchain.report.names import middle, printable
from toolchain.report.page import template
from toolchain.results import FunctionProfile

WIDTH = 1200
ROW = 22
_LETTER = 6.9
_MARGIN = 8
_FEWEST = 6
"""Letters below which a box goes without a name."""
_LEAST = 0.2
"""Pixels below which a box is not drawn: nobody could see it."""
_COLOURS = ("#e8a15c", "#e6b86a", "#d98f5a", "#efc27f", "#dd9c77", "#e3ad83")
_ROOT, _LAYERS = "#c9ced3", ("#8fb3d6", "#a9c5e0")


@dataclass(frozen=True, slots=True)
class Box:
    """A share of the instructions, as wide as it is large.

    Args:
        x: Left edge, pixels.
        y: Upper edge.
        width: Pixels.
        colour: The same for a function wherever it is.
        label: What fits into it.
        tip: Everything about it, for the pointer that rests on it.
    """

    x: float
    y: int
    width: float
    colour: str
    label: str
    tip: str


def flame_boxes(seen: FunctionProfile) -> tuple[Box, ...]:
    """Boxes from the top: the inference, layers in the order they run, functions of each layer.

    What a layer executes in the function of the inference itself stays without a box below it.

    Args:
        seen: Instructions by layer and function.
    """
    total = sum(sum(counts.values()) for _, counts in seen.layers)
    return tuple(box for box in _boxes(seen, total) if box.width >= _LEAST) if total else ()


def _boxes(seen: FunctionProfile, total: int) -> Iterator[Box]:
    yield _box(0, 0, total, total, _ROOT, seen.root)
    start = 0
    for index, (layer, counts) in enumerate(seen.layers):
        whole = sum(counts.values())
        yield _box(start, 1, whole, total, _LAYERS[index % 2], layer)
        at = start
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            if name != seen.root:
                colour = _COLOURS[zlib.crc32(name.encode()) % len(_COLOURS)]
                yield _box(at, 2, count, total, colour, name)
                at += count
        start += whole


def _box(start: int, row: int, count: int, total: int, colour: str, name: str) -> Box:
    pixel = WIDTH / total
    width = count * pixel
    name = printable(name)
    letters = int((width - _MARGIN) / _LETTER)
    label = middle(name, letters) if letters >= _FEWEST else ""
    tip = f"{name}: {count:,} instructions, {count / total:.1%} of an inference"
    return Box(round(start * pixel, 2), row * ROW, round(width, 2), colour, label, tip)


def flame_svg(seen: FunctionProfile, alone: bool = True) -> str:
    """The picture as a file of its own, which any browser shows, or as a part of a page.

    Args:
        seen: Instructions by layer and function.
        alone: It is a file.
    """
    return template("flame.svg.j2").render(
        alone=alone,
        boxes=flame_boxes(seen),
        width=WIDTH,
        row=ROW,
        title=f"executed instructions of {printable(seen.root)} ({' and '.join(seen.engines)})",
    )
