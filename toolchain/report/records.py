"""What --json prints: one object per command, with the keys that scripts may rely on."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from toolchain.check.compare import Comparison
from toolchain.project import Manifest


def convert_record(project: Path, manifest: Manifest) -> dict[str, Any]:
    """Result of `convert`: project, model, memory, layers."""
    return {
        "project": str(project),
        "model": manifest.source,
        "board": manifest.board,
        "arena_bytes": manifest.arena_bytes,
        "arena_lower_bound": manifest.arena_lower_bound,
        "arena_optimal": manifest.arena_optimal,
        "weights_bytes": manifest.weights_bytes,
        "macs": manifest.macs,
        "layers": [
            {"name": layer.name, "op": layer.op, "kernel": layer.kernel, "macs": layer.macs}
            for layer in manifest.layers
        ],
        "notes": list(manifest.notes),
        "warnings": list(manifest.warnings),
    }


def compare_record(
    comparison: Comparison, layers: Sequence[tuple[str, float]], emulation: Mapping[str, Any]
) -> dict[str, Any]:
    """Result of `compare`: both judgements, the layers, and the run they rest on."""
    return {
        "bit_exact": comparison.bit_exact,
        "max_abs_error": comparison.max_abs_error,
        "sqnr_db": finite(comparison.sqnr_db),
        "cosine": comparison.cosine,
        "agreement": comparison.agreement,
        "accuracy_float": comparison.accuracy_float,
        "accuracy_int8": comparison.accuracy_int8,
        "worst_layers": [
            {"name": name, "sqnr_db": finite(db)} for name, db in comparison.worst_layers
        ],
        "layers": [{"name": name, "sqnr_db": finite(db)} for name, db in layers],
        "passed": comparison.passed,
        "reasons": list(comparison.reasons),
        **emulation,
    }


def finite(value: float) -> float | None:
    """The number, or None where JSON has no word for it (infinite: no error at all)."""
    return value if isfinite(value) else None
