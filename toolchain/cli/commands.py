"""The commands: they parse, call, print; no logic."""

import shlex
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from toolchain import pipeline
from toolchain.board import list_boards, load_board
from toolchain.check.compare import Comparison, Gates
from toolchain.cli.conversion import Conversion, Quantisation, with_conversion
from toolchain.cli.options import (
    AGREEMENT,
    BOARD,
    DATA,
    DROP,
    EMULATOR,
    JSON,
    MODEL,
    OUT,
    POISON,
    PROJECT,
    SAMPLES,
    SHAPE,
    SQNR,
    TIMEOUT,
    Engine,
    Examined,
)
from toolchain.cli.solving import converted, explained, with_tradeoff
from toolchain.cli.values import gates_of, refuse_for_model, refuse_for_project, shapes_of
from toolchain.errors import GateFailed
from toolchain.project import Project, require_free, taken_back_if_interrupted, write_file
from toolchain.report import exports, html, profiles, records, support, table
from toolchain.report.diagnoses import Sort, diagnosis_record, diagnosis_table
from toolchain.report.flame import flame_svg
from toolchain.report.terminal import progress_bars, show
from toolchain.run.doctor import doctor as installed
from toolchain.run.flash import flash_command
from toolchain.run.renode_selftest import check_renode

app = typer.Typer(
    name="onnx2mcu",
    help="ONNX models as verified int8 firmware for Arm Cortex-M microcontrollers.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
    seen = pipeline.inspect(model, board, shapes_of(shape))
    show(as_json, records.inspect_record(seen), table.inspect_table(seen))


@app.command()
@with_conversion
def convert(
    *,
    model: MODEL,
    board: BOARD,
    output: OUT,
    conversion: Conversion,
    samples: SAMPLES = None,
    min_agreement: AGREEMENT = None,
    min_sqnr: SQNR = None,
    max_drop: DROP = None,
    as_json: JSON = False,
) -> None:
    """Convert an ONNX model to a C project for a board."""
    options = conversion.options(gates_of(min_agreement, min_sqnr, max_drop), samples)
    with progress_bars() as progress, explained(conversion.explain, as_json):
        project, outcome = converted(
            model, board, output, conversion, options, pipeline.Judged(options.gates), progress
        )
    manifest = project.manifest
    record = records.convert_record(output, manifest)
    show(as_json, *with_tradeoff(record, table.convert_table(manifest), outcome))


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
    poison: POISON = False,
    timeout: TIMEOUT = 600.0,
    as_json: JSON = False,
) -> None:
    """Run the firmware in an emulator; show executed instructions per layer."""
    run = pipeline.emulate(project, data, emulator.value, samples, timeout, poison=poison)
    show(as_json, records.emulate_record(run), table.profile_table(Project(project).manifest, run))


@app.command()
def profile(
    project: PROJECT,
    against: Annotated[
        Path | None, typer.Option("--against", help="Another project to compare with.")
    ] = None,
    functions: Annotated[
        bool, typer.Option("--functions", help="Count every C function, too.")
    ] = False,
    stacks: Annotated[
        Path | None, typer.Option("--stacks", help="Write collapsed stacks, for flame graphs.")
    ] = None,
    flame: Annotated[
        Path | None, typer.Option("--flame", help="Draw layers and functions: an SVG file.")
    ] = None,
    emulator: EMULATOR = Engine.AUTO,
    timeout: TIMEOUT = 600.0,
    as_json: JSON = False,
) -> None:
    """Show per layer: instructions, MACs, bytes moved, and what a faster layer would gain."""
    files = [path for path in (stacks, flame) if path is not None]
    for path in files:
        require_free(path, "profile", force=True)
    seen = pipeline.profile(project, against, emulator.value, timeout)
    record, view = profiles.profile_record(seen), profiles.profile_table(seen)
    if functions or files:
        found = seen.functions
        if found is None or emulator is Engine.RENODE:
            found = pipeline.profile_functions(project, emulator.value, timeout)
        record |= profiles.functions_record(found)
        view = Group(view, Text(""), profiles.functions_table(found))
        if stacks is not None:
            write_file(stacks, profiles.collapsed_stacks(found).encode(), "profile")
        if flame is not None:
            write_file(flame, flame_svg(found).encode(), "profile")
    show(as_json, record, view)


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
    gates = gates_of(min_agreement, min_sqnr, max_drop)
    with progress_bars() as progress:
        evaluation, run = pipeline.compare(
            project, data, gates, emulator.value, samples, timeout, progress
        )
    show(as_json, records.compare_record(evaluation, run), table.compare_table(evaluation))
    _require(evaluation.comparison)


@app.command()
@with_conversion
def run(
    *,
    model: MODEL,
    board: BOARD,
    output: OUT,
    data: DATA,
    conversion: Conversion,
    samples: SAMPLES = None,
    emulator: EMULATOR = Engine.AUTO,
    min_agreement: AGREEMENT = None,
    min_sqnr: SQNR = None,
    max_drop: DROP = None,
    timeout: TIMEOUT = 600.0,
    as_json: JSON = False,
) -> None:
    """Convert, build, emulate, compare, and write report.html: the whole corridor."""
    gates = gates_of(min_agreement, min_sqnr, max_drop)
    with progress_bars() as progress, explained(conversion.explain, as_json):
        pipeline.require_ready(board, data, emulator.value)
        pipeline.require_test_data(model, data, gates, conversion.quantisation(), samples)
        judged = pipeline.Judged(gates or Gates(), data, samples)
        with taken_back_if_interrupted(output):
            project, outcome = converted(
                model,
                board,
                output,
                conversion,
                replace(conversion.options(), goal=gates),
                judged,
                progress,
                emulator.value,
            )
            built = pipeline.build(output)
            evaluation, emulation = pipeline.compare(
                output, data, gates, emulator.value, samples, timeout, progress
            )
            manifest = project.manifest
            functions = pipeline.functions_if_countable(output, emulator.value, timeout)
            page = html.write_report(
                output, manifest, built, evaluation, emulation, outcome, functions
            )
    made = records.convert_record(output, manifest)
    ran = records.compare_record(evaluation, emulation)
    layers = zip(made["layers"], ran["layers"], strict=True)
    record = {
        **made,
        **records.build_record(built),
        **ran,
        "layers": [{**one, **other} for one, other in layers],
        "report": str(page),
    }
    view = table.run_table(manifest, built, evaluation, emulation, page)
    show(as_json, *with_tradeoff(record, view, outcome))
    _require(evaluation.comparison)
    pipeline.require_limits(output, conversion.limits, built, emulation)


@app.command()
@with_conversion
def diagnose(
    *,
    model: Annotated[
        Path, typer.Argument(help="ONNX file, or a folder that convert wrote.", show_default=False)
    ],
    data: DATA,
    conversion: Quantisation,
    samples: SAMPLES = None,
    sort: Annotated[Sort, typer.Option("--sort", help="By what layers are sorted.")] = Sort.SHARE,
    exclude: Annotated[
        list[str],
        typer.Option("--exclude", help="What if this layer (or * pattern) were exact; repeatable."),
    ] = [],  # noqa: B006
    outputs_of_board: Annotated[
        Path | None,
        typer.Option("--outputs-of-board", help="Codes a board computed (.npz), for a project."),
    ] = None,
    as_json: JSON = False,
) -> None:
    """Say of every layer where its error comes from, and what helps."""
    with progress_bars() as progress:
        if model.is_dir():
            refuse_for_project([*conversion.given(), *(["exclude"] if exclude else [])])
            seen = pipeline.diagnose_project(model, data, samples, outputs_of_board, progress)
        else:
            refuse_for_model(outputs_of_board)
            options = conversion.quantisation()
            seen = pipeline.diagnose(
                model, data, conversion.calib, options, samples, exclude, progress
            )
    show(as_json, diagnosis_record(seen, sort), diagnosis_table(seen, sort))
    if seen.board is not None and seen.board.first is not None:
        raise GateFailed(
            "diagnose",
            str(outputs_of_board),
            f"the board differs from the integer model: {seen.board.first}",
            "look at the memory, the kernels and the compiler options of the board's build",
        )


@app.command()
def export_qdq(
    project: PROJECT,
    output: Annotated[Path, typer.Option("-o", "--output", help="ONNX file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file of that name.")] = False,
    as_json: JSON = False,
) -> None:
    """Write the integer model as a QDQ ONNX file; check it in ONNX Runtime, layer by layer."""
    made = pipeline.export_qdq(project, output, force=force)
    show(as_json, exports.export_record(made), exports.export_table(made))


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
def doctor(
    emulator: Annotated[
        Examined | None, typer.Option("--emulator", help="Check all that is assumed about it.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Say what is installed, what is missing, and the command that installs it."""
    checks = installed() if emulator is None else check_renode()
    record = {"checks": [asdict(check) for check in checks]}
    show(as_json, record, table.doctor_table(checks))
    raise typer.Exit(0 if all(check.ok or not check.needed for check in checks) else 1)
