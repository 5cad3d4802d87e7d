"""The command line: commands parse, call, print; no logic."""

import os
import shlex
import subprocess
import sys
from dataclasses import asdict
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from toolchain import pipeline
from toolchain.board import list_boards, load_board
from toolchain.check.compare import Comparison, Gates
from toolchain.errors import GateFailed, InputRefused, ToolchainError
from toolchain.ir import Family
from toolchain.options import ConvertOptions
from toolchain.project import Project
from toolchain.report import html, profiles, records, support, table
from toolchain.report.terminal import complain, print_anything, progress_bars, show
from toolchain.run.flash import flash_command
from toolchain.select import Optimize

app = typer.Typer(
    name="onnx2mcu",
    help="ONNX models as verified int8 firmware for Arm Cortex-M microcontrollers.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

MODEL = Annotated[Path, typer.Argument(help="ONNX file.", show_default=False)]
NO_PRUNE = Annotated[bool, typer.Option("--no-prune", help="Keep dead channels.")]
PROJECT = Annotated[Path, typer.Argument(help="Folder that convert wrote.", show_default=False)]
CALIB = Annotated[
    Path | None, typer.Option("--calib", help="Calibration data; quantised models need none.")
]
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


def _finite(value: float | None) -> float | None:
    """Option values that are numbers: "nan" and "inf" pass every comparison or none."""
    if value is not None and not isfinite(value):
        raise typer.BadParameter(f"{value} is not a number to compute with.")
    return value


SAMPLES = Annotated[int | None, typer.Option("--samples", help="Use at most so many.", min=1)]
PERCENTILE = Annotated[
    float, typer.Option(help="Share of values to keep, in percent.", callback=_finite)
]
SCALE = Annotated[
    float,
    typer.Option("--pixel-scale", help="Value of one step of 8-bit pixels.", callback=_finite),
]
STACK = Annotated[int, typer.Option("--stack", help="Bytes of stack to reserve.")]
KEEP = Annotated[bool, typer.Option("--keep-inputs", help="Inputs survive a run.")]
KERNELS = Annotated[
    Family | None,
    typer.Option("--kernels", help="Whose kernels to call; fast, or cmsis-nn with --cmsis-nn-dir."),
]
OPTIMIZE = Annotated[
    Optimize, typer.Option("--optimize", help="Fewest instructions, or least code.")
]
ARM = Annotated[
    Path | None,
    typer.Option("--cmsis-nn-dir", envvar="CMSIS_NN_DIR", help="Arm's CMSIS-NN, to link it."),
]
TIMEOUT = Annotated[
    float,
    typer.Option("--timeout", help="Seconds the emulator may take.", min=0.01, callback=_finite),
]
AGREEMENT = Annotated[
    float | None,
    typer.Option(
        help="Gate: share of equal top-1 classes, 0 to 1.", min=0, max=1, callback=_finite
    ),
]
SQNR = Annotated[
    float | None, typer.Option(help="Gate: signal to quantisation noise, dB.", callback=_finite)
]
DROP = Annotated[
    float | None,
    typer.Option(help="Gate: accuracy that may be lost, in points.", min=0, callback=_finite),
]


class Calibration(StrEnum):
    """How ranges follow from the data."""

    MINMAX = "minmax"
    PERCENTILE = "percentile"
    ENTROPY = "entropy"


class Engine(StrEnum):
    """Which emulator runs the firmware."""

    AUTO = "auto"
    ALL = "all"
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


def _require(comparison: Comparison) -> None:
    if comparison.passed:
        return
    exact = comparison.bit_exact is not False
    raise GateFailed(
        "compare",
        "",
        "; ".join(comparison.reasons),
        "other calibration data or another --calibration may help; so may a wider model"
        if exact
        else "the generated code is wrong: please report it with the model",
    )


@app.command()
def inspect(
    model: MODEL,
    board: Annotated[str | None, typer.Option("--board", help="Does it fit this board?")] = None,
    shape: SHAPE = [],  # noqa: B006 - typer copies it
    as_json: JSON = False,
) -> None:
    """Show layers, shapes, MACs, bytes, and whether the model fits, without any data."""
    seen = pipeline.inspect(model, board, _shapes(shape))
    show(as_json, records.inspect_record(seen), table.inspect_table(seen))


@app.command()
def convert(
    model: MODEL,
    board: BOARD,
    output: OUT,
    calib: CALIB = None,
    calibration: METHOD = Calibration.MINMAX,
    percentile: PERCENTILE = 99.99,
    samples: SAMPLES = None,
    pixel_scale: SCALE = 1.0,
    shape: SHAPE = [],  # noqa: B006
    outputs: OUTPUTS = [],  # noqa: B006
    prefix: PREFIX = "",
    kernels: KERNELS = None,
    cmsis_nn_dir: ARM = None,
    optimize: OPTIMIZE = Optimize.SPEED,
    stack: STACK = 2048,
    keep_inputs: KEEP = False,
    min_agreement: AGREEMENT = None,
    min_sqnr: SQNR = None,
    max_drop: DROP = None,
    force: FORCE = False,
    no_prune: NO_PRUNE = False,
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
        kernels,
        cmsis_nn_dir,
        stack,
        keep_inputs,
        _gates(min_agreement, min_sqnr, max_drop),
        force,
        not no_prune,
        optimize,
    )
    with progress_bars() as progress:
        project = pipeline.convert(model, calib, board, output, options, progress)
    manifest = project.manifest
    show(as_json, records.convert_record(output, manifest), table.convert_table(manifest))


@app.command()
def build(project: PROJECT, as_json: JSON = False) -> None:
    """Compile a project; show flash, RAM and stack against the board."""
    built = pipeline.build(project)
    show(as_json, records.build_record(built), table.build_table(built))


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
    show(as_json, records.emulate_record(run), table.profile_table(Project(project).manifest, run))


@app.command()
def profile(
    project: PROJECT,
    against: Annotated[
        Path | None, typer.Option("--against", help="Another project to compare with.")
    ] = None,
    emulator: EMULATOR = Engine.AUTO,
    timeout: TIMEOUT = 600.0,
    as_json: JSON = False,
) -> None:
    """Show per layer: instructions, MACs, bytes moved, and what a faster layer would gain."""
    seen = pipeline.profile(project, against, emulator.value, timeout)
    show(as_json, profiles.profile_record(seen), profiles.profile_table(seen))


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
    with progress_bars() as progress:
        evaluation, run = pipeline.compare(
            project, data, gates, emulator.value, samples, timeout, progress
        )
    show(as_json, records.compare_record(evaluation, run), table.compare_table(evaluation))
    _require(evaluation.comparison)


@app.command()
def run(
    model: MODEL,
    board: BOARD,
    output: OUT,
    data: DATA,
    calib: CALIB = None,
    calibration: METHOD = Calibration.MINMAX,
    percentile: PERCENTILE = 99.99,
    samples: SAMPLES = None,
    pixel_scale: SCALE = 1.0,
    shape: SHAPE = [],  # noqa: B006
    outputs: OUTPUTS = [],  # noqa: B006
    prefix: PREFIX = "",
    kernels: KERNELS = None,
    cmsis_nn_dir: ARM = None,
    optimize: OPTIMIZE = Optimize.SPEED,
    stack: STACK = 2048,
    keep_inputs: KEEP = False,
    emulator: EMULATOR = Engine.AUTO,
    min_agreement: AGREEMENT = None,
    min_sqnr: SQNR = None,
    max_drop: DROP = None,
    timeout: TIMEOUT = 600.0,
    force: FORCE = False,
    no_prune: NO_PRUNE = False,
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
        kernels,
        cmsis_nn_dir,
        stack,
        keep_inputs,
        force=force,
        prune=not no_prune,
        optimize=optimize,
    )
    gates = _gates(min_agreement, min_sqnr, max_drop)
    with progress_bars() as progress:
        pipeline.require_ready(board, data, emulator.value)
        converted = pipeline.convert(model, calib, board, output, options, progress)
        built = pipeline.build(output)
        evaluation, emulation = pipeline.compare(
            output, data, gates, emulator.value, samples, timeout, progress
        )
    page = html.write_report(output, converted.manifest, built, evaluation, emulation)
    made = records.convert_record(output, converted.manifest)
    ran = records.compare_record(evaluation, emulation)
    layers = zip(made["layers"], ran["layers"], strict=True)
    record = {
        **made,
        **records.build_record(built),
        **ran,
        "layers": [{**one, **other} for one, other in layers],
        "report": str(page),
    }
    view = table.run_table(converted.manifest, built, evaluation, emulation, page)
    show(as_json, record, view)
    _require(evaluation.comparison)


@app.command()
def flash(
    project: PROJECT,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the command only.")] = False,
) -> None:
    """Write the firmware to the real board through pyOCD."""
    built = pipeline.build(project)
    command = flash_command(built.programs.firmware, built.board, dry_run=dry_run)
    print(shlex.join(command))
    if not dry_run:
        raise typer.Exit(subprocess.run(command, check=False).returncode)


@app.command()
def boards(as_json: JSON = False) -> None:
    """List the boards with their memory."""
    known = [load_board(name) for name in list_boards()]
    show(as_json, {"boards": records.board_records(known)}, table.board_table(known))


@app.command()
def ops(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a Markdown table.")] = False,
    as_json: JSON = False,
) -> None:
    """List the ONNX operators that are supported."""
    if markdown:
        print(support.operator_markdown(), end="")
        return
    show(as_json, {"operators": support.operator_records()}, table.operator_table())


@app.command()
def doctor(as_json: JSON = False) -> None:
    """Say what is installed, what is missing, and the command that installs it."""
    checks = pipeline.diagnose()
    record = {"checks": [asdict(check) for check in checks]}
    show(as_json, record, table.doctor_table(checks))
    raise typer.Exit(0 if all(check.ok or not check.needed for check in checks) else 1)


_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The base of what typer raises for a wrong command line; newer versions bring their own click."""


def main() -> None:
    """Entry point: a user's mistake ends in two lines, never in a traceback."""
    print_anything()
    arguments = sys.argv[1:] or ["--help"]
    try:
        code = app(arguments, prog_name="onnx2mcu", standalone_mode=False)
        sys.stdout.flush()
    except ToolchainError as error:
        code = error.exit_code
        where = f"{error.where}: " if error.where else ""
        help_page = f"onnx2mcu {arguments[0]} --help explains the options" if code == 2 else ""
        complain(f"{error.stage}: {where}{error.reason}", error.hint or help_page)
    except _USAGE_ERROR as error:
        code = 2
        command = getattr(getattr(error, "ctx", None), "command_path", "onnx2mcu")
        message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        complain(f"command line: {message}", f"{command} --help lists what there is")
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except OSError as error:
        code = 1
        complain(f"system: {error}", "look at free space and permissions")
    except Exception as error:
        if "ONNX2MCU_DEBUG" in os.environ:
            raise
        code = 1
        complain(
            f"internal: {type(error).__name__}: {error}",
            "this is a bug; ONNX2MCU_DEBUG=1 shows where",
        )
    sys.exit(code)
