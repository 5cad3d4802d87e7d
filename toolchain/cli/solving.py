"""Conversions with and without a search, and what is shown of one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from toolchain import pipeline
from toolchain.cli.conversion import Conversion
from toolchain.options import ConvertOptions, Progress
from toolchain.project import Project
from toolchain.report.terminal import show
from toolchain.report.tradeoff import tradeoff_record, tradeoff_table
from toolchain.run import Kind
from toolchain.solve import Infeasible, Outcome


def converted(
    model: Path,
    board: str,
    output: Path,
    conversion: Conversion,
    options: ConvertOptions,
    judged: pipeline.Judged,
    progress: Progress,
    emulator: Kind = "auto",
) -> tuple[Project, Outcome | None]:
    """The project, and the candidates where some were looked at."""
    calib = conversion.calib
    if not conversion.searched:
        return pipeline.convert(model, calib, board, output, options, progress), None
    return pipeline.convert_within(
        model,
        calib,
        board,
        output,
        conversion.limits,
        options,
        judged,
        emulator,
        progress,
        complete=conversion.explain,
    )


@contextmanager
def explained(wanted: bool, as_json: bool) -> Iterator[None]:
    """Where nothing keeps every constraint, show the candidates if that is wanted."""
    try:
        yield
    except Infeasible as error:
        if wanted:
            record = {"tradeoff": tradeoff_record(error.outcome)}
            show(as_json, record, tradeoff_table(error.outcome))
        raise


def with_tradeoff(
    record: dict[str, Any], view: RenderableType, outcome: Outcome | None
) -> tuple[dict[str, Any], RenderableType]:
    """What is shown of a command, with the candidates before it."""
    if outcome is None:
        return record, view
    both = Group(tradeoff_table(outcome), Text(""), view)
    return {**record, "tradeoff": tradeoff_record(outcome)}, both
