"""report.html: one self-contained page with everything `run` found."""

from collections.abc import Sequence
from pathlib import Path

from toolchain.check.evaluate import Evaluation
from toolchain.project import Manifest, write_file
from toolchain.report.advice import advise
from toolchain.report.flame import flame_svg
from toolchain.report.page import template
from toolchain.report.picture import HEIGHT, WIDTH, arena_picture
from toolchain.report.table import layer_groups, together_lines
from toolchain.report.tradeoff import tradeoff_section
from toolchain.results import Built, Emulation, FunctionProfile
from toolchain.solve import Outcome

REPORT = "report.html"


def write_report(
    directory: Path,
    manifest: Manifest,
    built: Built,
    evaluation: Evaluation,
    run: Emulation,
    outcome: Outcome | None = None,
    functions: FunctionProfile | None = None,
) -> Path:
    """Write the page into the project; returns its path.

    Args:
        directory: The project.
        manifest: What was converted.
        built: The programs.
        evaluation: Integer model against float and firmware.
        run: The emulation.
        outcome: The candidates it was taken from, if it was searched for.
        functions: Instructions by function, where they could be counted.
    """
    errors = dict(evaluation.layers)
    layers = [
        {
            "fact": fact,
            "instructions": count,
            "share": count / max(run.instructions, 1),
            "sqnr": errors.get(fact.name),
        }
        for fact, count in zip(manifest.layers, _instructions(run, functions), strict=True)
    ]
    names = [layer.name for layer in manifest.layers]
    text = template("report.html.j2").render(
        manifest=manifest,
        built=built,
        found=evaluation.comparison,
        run=run,
        layers=layers,
        worst=dict(evaluation.comparison.worst_layers),
        picture=arena_picture(manifest),
        advice=advise(manifest),
        width=WIDTH,
        height=HEIGHT,
        tradeoff=None if outcome is None else tradeoff_section(outcome),
        flame="" if functions is None else flame_svg(functions, alone=False),
        remarks=_remarks(run, functions, names),
    )
    path = directory / REPORT
    write_file(path, text.encode(), "report")
    return path


def _instructions(run: Emulation, functions: FunctionProfile | None) -> list[int]:
    """Of every layer; those in rows from the count by function, which tells them apart."""
    counts = [count for _, count in run.layers]
    if functions is not None:
        for first, end in run.together:
            counts[first:end] = [sum(n.values()) for _, n in functions.layers[first:end]]
    return counts


def _remarks(run: Emulation, functions: FunctionProfile | None, names: Sequence[str]) -> list[str]:
    """How layers that run row by row were counted."""
    if functions is None:
        return list(together_lines(run.together, names))
    return [
        f"The {len(group)} layers from {group[0]} to {group[-1]} run row by row: these "
        "instructions are of the first stored sample; what moves rows counts at the last one."
        for group in layer_groups(run.together, names)
    ]
