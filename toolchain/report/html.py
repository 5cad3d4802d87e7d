"""report.html: one self-contained page with everything `run` found."""

from pathlib import Path

from toolchain.check.evaluate import Evaluation
from toolchain.project import Manifest, write_file
from toolchain.report.advice import advise
from toolchain.report.page import template
from toolchain.report.picture import HEIGHT, WIDTH, arena_picture
from toolchain.report.tradeoff import tradeoff_section
from toolchain.results import Built, Emulation
from toolchain.solve import Outcome

REPORT = "report.html"


def write_report(
    directory: Path,
    manifest: Manifest,
    built: Built,
    evaluation: Evaluation,
    run: Emulation,
    outcome: Outcome | None = None,
) -> Path:
    """Write the page into the project; returns its path.

    Args:
        directory: The project.
        manifest: What was converted.
        built: The programs.
        evaluation: Integer model against float and firmware.
        run: The emulation.
        outcome: The candidates it was taken from, if it was searched for.
    """
    errors = dict(evaluation.layers)
    layers = [
        {
            "fact": fact,
            "instructions": count,
            "share": count / max(run.instructions, 1),
            "sqnr": errors.get(fact.name),
        }
        for fact, (_, count) in zip(manifest.layers, run.layers, strict=True)
    ]
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
    )
    path = directory / REPORT
    write_file(path, text.encode(), "report")
    return path
