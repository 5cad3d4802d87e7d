"""Standard output and standard error: tables, JSON, progress bars, the two lines of an error."""

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from toolchain.options import Progress as Report
from toolchain.options import silent
from toolchain.report.names import printable

_PIPE_COLUMNS = 150
"""Where lines of text are broken; a table is as wide as it needs."""
_WIDEST = 1000


def print_anything() -> None:
    """Names of a model may hold characters that the terminal cannot show: escape those."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show(as_json: bool, record: dict[str, Any], view: RenderableType) -> None:
    """One JSON object, or tables: as wide as the terminal, or as they need in a pipe."""
    if as_json:
        print(json.dumps(record, allow_nan=False))
    elif sys.stdout.isatty():
        Console().print(view)
    else:
        console = Console(file=io.StringIO(), width=_WIDEST)
        with console.capture() as text:
            for part in _parts(view):
                console.print(part, width=None if isinstance(part, Table) else _PIPE_COLUMNS)
        print("\n".join(line.rstrip() for line in text.get().splitlines()))


def _parts(view: RenderableType) -> Iterator[RenderableType]:
    """Tables and texts of nested groups."""
    if isinstance(view, Group):
        for part in view.renderables:
            yield from _parts(part)
    else:
        yield view


@contextlib.contextmanager
def progress_bars() -> Iterator[Report]:
    """A bar on a terminal, silence in a pipe."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


def complain(reason: str, hint: str) -> None:
    """The two lines of an error; more lines of a reason are indented.

    A model's names may hold anything: what cannot be printed is escaped.
    """
    lines = [f"error: {reason}", *([f"hint: {hint}"] if hint else [])]
    for line in lines:
        print("\n  ".join(printable(part.lstrip()) for part in line.split("\n")), file=sys.stderr)
