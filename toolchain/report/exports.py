"""What `export-qdq` prints: the file, and how ONNX Runtime agrees with the integer model."""

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from toolchain.check.exported import Agreement
from toolchain.report.table import lines_below, table
from toolchain.results import QdqExport


def export_record(made: QdqExport) -> dict[str, Any]:
    """Result of `export-qdq`."""
    return {
        "model": str(made.path),
        "opset": made.opset,
        "samples": made.samples,
        "max_difference": max((layer.largest for layer in made.check.layers), default=0),
        "layers": [_agreement(layer) for layer in made.check.layers],
        "outputs": [_agreement(output) for output in made.check.outputs],
    }


def _agreement(seen: Agreement) -> dict[str, Any]:
    return {
        "name": seen.name,
        "max_difference": seen.largest,
        "differing": seen.differing / max(seen.values, 1),
    }


def export_table(made: QdqExport) -> RenderableType:
    """Layers with their largest difference and how many values differ, then the outputs."""
    return Group(
        table(
            "layers in ONNX Runtime, each fed the codes of the integer model",
            ["layer", "largest difference", "differing values"],
            (tuple(_row(layer)) for layer in made.check.layers),
        ),
        Text(),
        table(
            "outputs of the whole model",
            ["output", "largest difference", "differing values"],
            (tuple(_row(output)) for output in made.check.outputs),
        ),
        lines_below([f"{made.path}: opset {made.opset}, checked on {made.samples} samples"]),
    )


def _row(seen: Agreement) -> Iterator[object]:
    yield from (seen.name, seen.largest, f"{seen.differing / max(seen.values, 1):.2%}")
