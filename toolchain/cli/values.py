"""Values of options that typer cannot read by itself."""

from pathlib import Path

from toolchain.check.compare import Gates
from toolchain.errors import InputRefused
from toolchain.plan import Ram


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


def refuse_for_project(given: list[str]) -> None:
    """Refuse options that only make sense before a conversion.

    Args:
        given: Names of such options that are on the command line.

    Raises:
        InputRefused: There are some.
    """
    if given:
        raise InputRefused(
            "command line",
            ", ".join(f"--{name.replace('_', '-')}" for name in given),
            "a project is quantised already",
            "give the ONNX file instead of the project, or leave the option out",
        )


def refuse_for_model(board_outputs: Path | None) -> None:
    """Refuse the codes of a board where it is not known what it ran.

    Raises:
        InputRefused: There are some.
    """
    if board_outputs is not None:
        raise InputRefused(
            "command line",
            "--outputs-of-board",
            "needs the project the firmware was built from",
            "give the folder that convert wrote instead of the ONNX file",
        )


def ram_of(text: str) -> Ram | int:
    """What --ram says.

    Raises:
        InputRefused: It is none of auto, min and a number of bytes.
    """
    if text in tuple(Ram):
        return Ram(text)
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise InputRefused(
        "command line",
        "--ram",
        f"{text!r} is neither auto, min nor a number of bytes",
        "write bytes as digits alone, such as --ram 20000",
    )


def named(option: str, text: str | None) -> str:
    """The value of an option that names memories; "" where it is not given.

    Raises:
        InputRefused: It is given and names nothing.
    """
    if text is not None and not text.strip():
        hint = "name a memory of the board, or leave the option out"
        raise InputRefused("command line", option, "names no memory", hint)
    return text or ""
