"""What --json prints: one object per command, with the keys that scripts may rely on."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from toolchain.board import Board
from toolchain.check.evaluate import Evaluation
from toolchain.project import Manifest
from toolchain.report.table import layer_groups
from toolchain.results import Built, Emulation, Inspection

Record = dict[str, Any]


def inspect_record(seen: Inspection) -> Record:
    """Result of `inspect`: layers, bytes, and whether they fit."""
    return {
        "model": seen.graph.name,
        "macs": sum(layer.macs for layer in seen.layers),
        "weights_bytes": sum(layer.weights_bytes for layer in seen.layers),
        "activation_peak_bytes": seen.peak_bytes,
        "peak_layer": seen.peak_layer,
        "fits": seen.fits,
        "short": [
            {
                "memory": short.memory,
                "needed_bytes": short.needed,
                "board_bytes": short.there,
                "ways": list(short.ways),
            }
            for short in seen.short
        ],
        "layers": [
            {
                "name": layer.name,
                "op": layer.op,
                "shape": list(layer.shape),
                "macs": layer.macs,
                "weights_bytes": layer.weights_bytes,
            }
            for layer in seen.layers
        ],
        "notes": list(seen.notes),
    }


def convert_record(project: Path, manifest: Manifest) -> Record:
    """Result of `convert`: project, model, memory, layers."""
    return {
        "project": str(project),
        "model": manifest.source,
        "board": manifest.board.name,
        "arena_bytes": manifest.arena_bytes,
        "arena_lower_bound": manifest.arena_lower_bound,
        "arena_optimal": manifest.arena_optimal,
        "arena_parts": [
            {"memory": memory, "bytes": nbytes} for memory, nbytes in manifest.firmware.parts
        ],
        "weights_bytes": manifest.weights_bytes,
        "macs": manifest.macs,
        "rounding": manifest.rounding,
        "layers": [
            {
                "name": layer.name,
                "op": layer.op,
                "kernel": layer.kernel,
                "macs": layer.macs,
                "weights_bytes": layer.weights_bytes,
                "weight_bits": layer.weight_bits,
                "predicted_instructions": layer.predicted,
                "reason": layer.reason,
            }
            for layer in manifest.layers
        ],
        "notes": list(manifest.notes),
        "warnings": list(manifest.warnings),
    }


def build_record(built: Built) -> Record:
    """Result of `build`: the program for the board and its bytes."""
    sizes = built.sizes
    return {
        "elf": str(built.programs.firmware),
        "flash_bytes": sizes.flash,
        "code_bytes": sizes.code,
        "weights_bytes": sizes.weights,
        "data_bytes": sizes.data,
        "bss_bytes": sizes.bss,
        "stack_reserved_bytes": sizes.stack,
        "stack_worst_bytes": built.facts.inference.bytes,
        "stack_worst_path": list(built.facts.inference.path),
        "memories": [
            {"name": name, "bytes": used, "board_bytes": built.board.usable(name).bytes}
            for name, used in sizes.memories.items()
        ],
        "board_flash_bytes": built.board.flash.bytes,
        "board_ram_bytes": built.board.ram.bytes,
    }


def emulate_record(run: Emulation) -> Record:
    """Result of `emulate`: the engine and what it counted."""
    return {
        "emulator": run.emulator,
        "core": run.core,
        "samples": run.samples,
        "instructions": run.instructions,
        "stack_bytes": run.stack_bytes,
        "agreeing_emulators": list(run.agreeing),
        "absent_emulators": list(run.absent),
        "layers": [{"name": name, "instructions": count} for name, count in run.layers],
        "counted_together": layer_groups(run.together, [name for name, _ in run.layers]),
        "outputs": str(run.outputs),
        "poisoned": run.poisoned,
        "console": run.console,
    }


def compare_record(evaluation: Evaluation, run: Emulation) -> Record:
    """Result of `compare`: both judgements, and the layers with error and instructions."""
    comparison = evaluation.comparison
    errors = dict(evaluation.layers)
    emulated = emulate_record(run)
    return {
        **emulated,
        "bit_exact": comparison.bit_exact,
        "max_abs_error": finite(comparison.max_abs_error),
        "sqnr_db": finite(comparison.sqnr_db),
        "cosine": finite(comparison.cosine),
        "agreement": comparison.agreement,
        "accuracy_float": comparison.accuracy_float,
        "accuracy_int8": comparison.accuracy_int8,
        "worst_layers": [
            {"name": name, "sqnr_db": finite(db)} for name, db in comparison.worst_layers
        ],
        "layers": [
            {**layer, "sqnr_db": None if db is None else finite(db)}
            for layer in emulated["layers"]
            for db in [errors.get(layer["name"])]
        ],
        "passed": comparison.passed,
        "reasons": list(comparison.reasons),
        "notes": list(evaluation.notes),
    }


def board_records(boards: Sequence[Board]) -> list[Record]:
    """The boards with core and memory."""
    return [
        {
            "name": board.name,
            "description": board.description,
            "cpu": board.cpu,
            "isa": str(board.isa),
            "clock_hz": board.clock_hz,
            "flash_bytes": board.flash.bytes,
            "ram_bytes": board.ram.bytes,
        }
        for board in boards
    ]


def finite(value: float) -> float | None:
    """The number, or None where JSON has no word for it (infinite: no error at all)."""
    return value if isfinite(value) else None
