"""The arena over time, as rectangles in pixels for the page."""

import string
from dataclasses import dataclass

from toolchain.project import Manifest
from toolchain.report.names import middle

WIDTH = 960
HEIGHT = 320
_LETTER = 6.2
_LINE = 13
_MARGIN = 8
_LETTERS = string.ascii_uppercase + string.ascii_lowercase


@dataclass(frozen=True, slots=True)
class Block:
    """One buffer of the arena.

    Args:
        x: Left edge: its first step.
        y: Upper edge: its last byte.
        width: To the end of its last step.
        height: Its bytes; a block may cover part of one that dies in its first step.
        tip: Everything about it, for the pointer that rests on it.
        lines: What fits into it, from the top.
        peak: Whether it is alive at the step with the most live bytes.
    """

    x: float
    y: float
    width: float
    height: float
    tip: str
    lines: tuple[str, ...]
    peak: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """Buffers, and where the peak is.

    Args:
        blocks: Buffers, by first step.
        steps: Number of steps.
        peak_x: Left edge of the step with the most live bytes.
        peak_width: Width of a step.
        bound_y: Height of the lower bound: the live bytes of that step.
    """

    blocks: tuple[Block, ...]
    steps: int
    peak_x: float
    peak_width: float
    bound_y: float


def arena_picture(manifest: Manifest) -> Picture:
    """Time to the right, addresses upwards; big buffers carry their names.

    Args:
        manifest: Its buffers.
    """
    buffers, arena = manifest.buffers, max(manifest.arena_bytes, 1)
    steps = max((b.last for b in buffers), default=0) + 1
    peak = peak_step(manifest)
    step, byte = WIDTH / steps, HEIGHT / arena
    blocks = []
    for b in buffers:
        width, height = (b.last - b.first + 1) * step, b.nbytes * byte
        when = f"step {b.first}" if b.first == b.last else f"steps {b.first} to {b.last}"
        blocks.append(
            Block(
                round(b.first * step, 2),
                round(HEIGHT - (b.offset + b.nbytes) * byte, 2),
                round(width, 2),
                round(height, 2),
                f"{', '.join(b.tensors) or b.name}: {b.nbytes:,} bytes at {b.offset:,}, {when}",
                _label(b.name, b.nbytes, width, height),
                b.first <= peak <= b.last,
            )
        )
    bound = HEIGHT - manifest.arena_lower_bound * byte
    return Picture(
        tuple(blocks), steps, round(peak * step, 2), round(step, 2), round(max(bound, 0), 2)
    )


def peak_step(manifest: Manifest) -> int:
    """The first step that needs as many bytes as any."""
    return max(range(len(manifest.steps)), key=lambda s: manifest.steps[s].nbytes, default=0)


def arena_text(manifest: Manifest, columns: int = 72, rows: int = 12) -> tuple[str, ...]:
    """The picture in characters, a letter per buffer, highest addresses first.

    Each character stands for the step and the bytes at its lower left corner: buffers smaller than
    a row may be missing. Where two overlap, the later one is seen.

    Args:
        manifest: Its buffers.
        columns: At most so many characters per line; fewer steps get several characters each.
        rows: Lines of the picture.
    """
    steps, arena = max(len(manifest.steps), 1), manifest.arena_bytes
    columns = columns if steps > columns else columns // steps * steps
    size = max(-(-arena // rows), 1)
    peak = peak_step(manifest)
    lines = []
    for start in range((arena - 1) // size * size, -1, -size):
        cells = []
        for column in range(columns):
            step = column * steps // columns
            found = [
                i
                for i, b in enumerate(manifest.buffers)
                if b.first <= step <= b.last and b.offset <= start < b.offset + b.nbytes
            ]
            cells.append(_LETTERS[found[-1] % len(_LETTERS)] if found else ".")
        lines.append(f"{start:>9,} {''.join(cells)}")
    marks = "".join("^" if c * steps // columns == peak else " " for c in range(columns))
    return (*lines, f"{'peak':>9} {marks}".rstrip())


def _label(name: str, nbytes: int, width: float, height: float) -> tuple[str, ...]:
    """Name and size where there is room for them."""
    letters = int((width - _MARGIN) / _LETTER)
    size = f"{nbytes:,} B"
    if letters < len(size) or height < _LINE + 3:
        return ()
    if height < 2 * _LINE + 3:
        return (size,)
    return middle(name, letters), size
