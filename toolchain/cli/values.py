"""Values of options that typer cannot read by itself."""

from toolchain.check.compare import Gates
from toolchain.errors import InputRefused


def gates_of(agreement: float | None, sqnr: float | None, drop: float | None) -> Gates | None:
    """The gates that were asked for, the drop in points; None when there is none."""
    if agreement is None and sqnr is None and drop is None:
        return None
    return Gates(agreement, sqnr, None if drop is None else drop / 100)


def shapes_of(texts: list[str]) -> dict[str, tuple[int, ...]]:
    """Shapes by tensor from NAME=1,3,96,96.

    Raises:
        InputRefused: A text is something else.
    """
    shapes = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        try:
            shapes[name] = tuple(int(n) for n in numbers.split(","))
        except ValueError:
            shapes[name] = ()
        if not name or not shapes[name] or min(shapes[name]) < 1:
            raise InputRefused("command line", text, "not a shape", "write NAME=1,3,96,96")
    return shapes
