"""The command line: commands parse, call, print; no logic."""

import contextlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from toolchain import pipeline
from toolchain.board import list_boards, load_board
from toolchain.check.compare import Gates
from toolchain.errors import InputRefused, ToolchainError
from toolchain.options import ConvertOptions, silent
from toolchain.options import Progress as Report
from toolchain.project import Project
from toolchain.report import html, records, support, table

app = typer.Typer(
    name="onnx2mcu",
    help="ONNX models as verified int8 firmware for Arm Cortex-M microcontrollers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

MODEL = Annotated[Path, typer.Argument(help="ONNX file.", show_default=False)]
PROJECT = Annotated[Path, typer.Argument(help="Folder that convert wrote.", show_default=False)]
CALIB = Annotated[Path, typer.Option("--calib", help="Calibration data: .npz, .npy or a folder.")]
DATA = Annotated[Path, typer.Option("--data", help="Samples: .npz, .npy or a folder.")]
BOARD = Annotated[str, typer.Option("--board", help="Board name or board file.")]
OUT = Annotated[Path, typer.Option("-o", "--output", help="Folder of the project.")]
SHAPE = Annotated[
    list[str], typer.Option("--shape", help="NAME=1,3,96,96 for symbolic dimensions; repeatable.")
]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
FORCE = Annotated[bool, typer.Option("--force", help="Replace an earlier project.")]
PREFIX = Annotated[str, typer.Option("--prefix", help="Prefix of files and symbols.")]
OUTPUTS = Annotated[list[str], typer.Option("--outputs", help="Output to keep; repeatable.")]
SAMPLES = Annotated[int | None, typer.Option("--samples", help="Use at most so many.", min=1)]
PERCENTILE = Annotated[float, typer.Option(help="Share of values to keep, in percent.")]
SCALE = Annotated[float, typer.Option("--pixel-scale", help="Value of one step of 8-bit pixels.")]
STACK = Annotated[int, typer.Option("--stack", help="Bytes of stack to reserve.")]
KEEP = Annotated[bool, typer.Option("--keep-inputs", help="Inputs survive a run.")]
ARM = Annotated[
    Path | None,
    typer.Option("--cmsis-nn-dir", envvar="CMSIS_NN_DIR", help="Arm's CMSIS-NN, to link it."),
]
TIMEOUT = Annotated[float, typer.Option("--timeout", help="Seconds the emulator may take.")]
AGREEMENT = Annotated[
    float | None, typer.Option(help="Gate: share of equal top-1 classes, 0 to 1.", min=0, max=1)
]
SQNR = Annotated[float | None, typer.Option(help="Gate: signal to quantisation noise, dB.")]
DROP = Annotated[
    float | None, typer.Option(help="Gate: accuracy that may be lost, in points.", min=0)
]


class Calibration(StrEnum):
    """How ranges follow from the data."""

    MINMAX = "minmax"
    PERCENTILE = "percentile"
    ENTROPY = "entropy"


class Engine(StrEnum):
    """Which emulator runs the firmware."""

    AUTO = "auto"
    RENODE = "renode"
    QEMU = "qemu"
    UNICORN = "unicorn"


METHOD = Annotated[Calibration, typer.Option("--calibration", help="How ranges are chosen.")]
EMULATOR = Annotated[Engine, typer.Option("--emulator", help="Which engine runs the firmware.")]


def _gates(agreement: float | None, sqnr: float | None, drop: float | None) -> Gates | None:
    if agreement is None and sqnr is None and drop is None:
        return None
    return Gates(agreement, sqnr, None if drop is None else drop / 100)


def _shapes(texts: list[str]) -> dict[str, tuple[int, ...]]:
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


def _show(as_json: bool, record: dict[str, Any], view: RenderableType) -> None:
    if as_json:
        print(json.dumps(record, default=str))
    else:
        Console().print(view)


@contextlib.contextmanager
def _progress() -> Iterator[Report]:
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


@app.command()
def inspect(
    model: MODEL,
    board: Annotated[str | None, typer.Option("--board", help="Does it fit this board?")] = None,
    shape: SHAPE = [],  # noqa: B006 - typer copies it
    as_json: JSON = False,
) -> None:
    """Show layers, shapes, MACs, bytes, and whether the model fits, without any data."""
    seen = pipeline.inspect(model, board, _shapes(shape))
    _show(as_json, records.inspect_record(seen), table.inspect_table(seen))


@app.command()
def convert(
    model: MODEL,
    calib: CALIB,
    board: BOARD,
    output: OUT,
    calibration: METHOD = Calibration.MINMAX,
    percentile: PERCENTILE = 99.99,
    samples: SAMPLES = None,
    pixel_scale: SCALE = 1.0,
    shape: SHAPE = [],  # noqa: B006
    outputs: OUTPUTS = [],  # noqa: B006
    prefix: PREFIX = "",
    cmsis_nn_dir: ARM = None,
    stack: STACK = 2048,
    keep_inputs: KEEP = False,
    min_agreement: AGREEMENT = None,
    min_sqnr: SQNR = None,
    max_drop: DROP = None,
    force: FORCE = False,
    as_json: JSON = False,
) -> None:
    """Convert an ONNX model to a C project for a board."""
    options = ConvertOptions(
        calibration.value,
        percentile,
        samples,
        pixel_scale,
        _shapes(shape),
        tuple(outputs),
        prefix,
        cmsis_nn_dir,
        stack,
        keep_inputs,
        _gates(min_agreement, min_sqnr, max_drop),
        force,
    )
    with _progress() as progress:
        project = pipeline.convert(model, calib, board, output, options, progress)
    manifest = project.manifest
    _show(as_json, records.convert_record(output, manifest), table.convert_table(manifest))


@app.command()
def build(project: PROJECT, as_json: JSON = False) -> None:
    """Compile a project; show flash, RAM and stack against the board."""
    built = pipeline.build(project)
    _show(as_json, records.build_record(built), table.build_table(built))


@app.command()
def emulate(
    project: PROJECT,
    data: Annotated[Path | None, typer.Option("--data", help="Samples to run.")] = None,
    emulator: EMULATOR = Engine.AUTO,
    samples: SAMPLES = None,
    timeout: TIMEOUT = 600.0,
    as_json: JSON = False,
) -> None:
    """Run the firmware in an emulator; show executed instructions per layer."""
    run = pipeline.emulate(project, data, emulator.value, samples, timeout)
    _show(as_json, records.emulate_record(run), table.profile_table(Project(project).manifest, run))


@app.command()
def compare(
    project: PROJECT,
    data: DATA,
    emulator: EMULATOR = Engine.AUTO,
    samples: SAMPLES = None,
    min_agreement: AGREEMENT = None,
    min_sqnr: SQNR = None,
    max_drop: DROP = None,
    timeout: TIMEOUT = 600.0,
    as_json: JSON = False,
) -> None:
    """Compare the emulated firmware with the integer model and with the float reference."""
    gates = _gates(min_agreement, min_sqnr, max_drop)
    with _progress() as progress:
        evaluation, run = pipeline.compare(
            project, data, gates, emulator.value, samples, timeout, progress
        )
    _show(as_json, records.compare_record(evaluation, run), table.compare_table(evaluation))
    raise typer.Exit(0 if evaluation.comparison.passed else 1)


@app.command()
def run(
    model: MODEL,
    calib: CALIB,
    board: BOARD,
    output: OUT,
    data: DATA,
    calibration: METHOD = Calibration.MINMAX,
    percentile: PERCENTILE = 99.99,
    samples: SAMPLES = None,
    pixel_scale: SCALE = 1.0,
    shape: SHAPE = [],  # noqa: B006
    outputs: OUTPUTS = [],  # noqa: B006
    prefix: PREFIX = "",
    cmsis_nn_dir: ARM = None,
    stack: STACK = 2048,
    emulator: EMULATOR = Engine.AUTO,
    min_agreement: AGREEMENT = None,
    min_sqnr: SQNR = None,
    max_drop: DROP = None,
    timeout: TIMEOUT = 600.0,
    force: FORCE = False,
    as_json: JSON = False,
) -> None:
    """Convert, build, emulate, compare, and write report.html: the whole corridor."""
    options = ConvertOptions(
        calibration.value,
        percentile,
        None,
        pixel_scale,
        _shapes(shape),
        tuple(outputs),
        prefix,
        cmsis_nn_dir,
        stack,
        force=force,
    )
    gates = _gates(min_agreement, min_sqnr, max_drop)
    with _progress() as progress:
        converted = pipeline.convert(model, calib, board, output, options, progress)
        built = pipeline.build(output)
        evaluation, emulation = pipeline.compare(
            output, data, gates, emulator.value, samples, timeout, progress
        )
    page = html.write_report(output, converted.manifest, built, evaluation, emulation)
    record = {
        **records.convert_record(output, converted.manifest),
        **records.build_record(built),
        **records.compare_record(evaluation, emulation),
        "report": str(page),
    }
    view = table.run_table(converted.manifest, built, evaluation, emulation, page)
    _show(as_json, record, view)
    raise typer.Exit(0 if evaluation.comparison.passed else 1)


@app.command()
def flash(
    project: PROJECT,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the command only.")] = False,
) -> None:
    """Write the firmware to the real board through pyOCD."""
    command = pipeline.flash_command(project)
    print(shlex.join(command))
    if not dry_run:
        raise typer.Exit(subprocess.run(command, check=False).returncode)


@app.command()
def boards(as_json: JSON = False) -> None:
    """List the boards with their memory."""
    known = [load_board(name) for name in list_boards()]
    _show(as_json, {"boards": records.board_records(known)}, table.board_table(known))


@app.command()
def ops(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a Markdown table.")] = False,
    as_json: JSON = False,
) -> None:
    """List the ONNX operators that are supported."""
    if markdown:
        print(support.operator_markdown(), end="")
        return
    _show(as_json, {"operators": support.operator_records()}, table.operator_table())


@app.command()
def doctor(as_json: JSON = False) -> None:
    """Say what is installed, what is missing, and the command that installs it."""
    checks = pipeline.diagnose()
    record = {"checks": [asdict(check) for check in checks]}
    _show(as_json, record, table.doctor_table(checks))


def main() -> None:
    """Entry point: a user's mistake ends in two lines, never in a traceback."""
    try:
        app()
    except ToolchainError as error:
        where = f"{error.where}: " if error.where else ""
        print(f"error: {error.stage}: {where}{error.reason}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if "ONNX2MCU_DEBUG" in os.environ:
            raise
        print(f"error: internal: {type(error).__name__}: {error}", file=sys.stderr)
        print("hint: this is a bug; ONNX2MCU_DEBUG=1 shows where", file=sys.stderr)
        sys.exit(1)
