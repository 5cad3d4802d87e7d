"""What `diagnose` prints: every layer's errors, the worst first, with a sentence on each."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from toolchain.check.board import BoardFindings
from toolchain.check.diagnosis import LayerFindings
from toolchain.report.names import Names
from toolchain.report.records import finite
from toolchain.report.table import decibel, lines_below, percent, table
from toolchain.results import Diagnosed


class Sort(StrEnum):
    """By what layers are sorted; the worst come first."""

    SHARE = "share"
    ORDER = "order"
    SQNR = "sqnr"
    OWN = "own"
    OUTPUT = "output"
    CLIPPED = "clipped"
    DEAD = "dead"


_KEYS: dict[Sort, Callable[[LayerFindings], float]] = {
    Sort.SHARE: lambda layer: -layer.share,
    Sort.ORDER: lambda _layer: 0.0,
    Sort.SQNR: lambda layer: layer.sqnr_db,
    Sort.OWN: lambda layer: layer.own_sqnr_db,
    Sort.OUTPUT: lambda layer: layer.output_sqnr_db,
    Sort.CLIPPED: lambda layer: -layer.clipping_rate,
    Sort.DEAD: lambda layer: -layer.dead_channels - layer.removed,
}


def diagnosis_record(seen: Diagnosed, sort: Sort) -> dict[str, Any]:
    """Result of `diagnose`: the outputs, and every layer."""
    found = seen.diagnosis
    before, after = found.accuracies or (None, None)
    return {
        "samples": found.samples,
        "sqnr_db": finite(found.sqnr_db),
        "agreement": found.agreement,
        "accuracy_float": before,
        "accuracy_int8": after,
        "layers": [
            {**_layer(layer), "advice": seen.advice[layer.name]}
            for layer in sorted(found.layers, key=_KEYS[sort])
        ],
        "not_compared": list(found.unknown),
        "without": None
        if seen.without is None
        else {
            "layers": list(seen.without.layers),
            "sqnr_db": finite(seen.without.sqnr_db),
            "agreement": seen.without.agreement,
            "accuracy": seen.without.accuracy,
        },
        "board": None if seen.board is None else _board(seen.board),
        "notes": list(seen.notes),
    }


def _layer(layer: LayerFindings) -> dict[str, Any]:
    values = layer.statistics
    low, high = values.representable
    return {
        "name": layer.name,
        "op": "Input" if layer.op is None else type(layer.op).__name__,
        "tensor": layer.tensor,
        "sqnr_db": finite(layer.sqnr_db),
        "own_sqnr_db": finite(layer.own_sqnr_db),
        "grid_sqnr_db": finite(layer.grid_sqnr_db),
        "output_sqnr_db": finite(layer.output_sqnr_db),
        "agreement": layer.agreement,
        "accuracy": layer.accuracy,
        "share": layer.share,
        "low": float(values.low.min()),
        "high": float(values.high.max()),
        "range_low": low,
        "range_high": high,
        "clipping_rate": layer.clipping_rate,
        "channels": len(values.low),
        "dead_channels": layer.dead_channels,
        "removed_channels": layer.removed,
        "worst_channels": [
            {"channel": channel, "sqnr_db": finite(db)} for channel, db in layer.worst_channels
        ],
    }


def _board(found: BoardFindings) -> dict[str, Any]:
    first = found.first
    return {
        "equal": first is None,
        "layers": [
            {"name": layer.name, "values": layer.values, "differing": layer.differing}
            for layer in found.layers
        ],
        "first_difference": None
        if first is None
        else {
            "sample": first.sample,
            "layer": first.layer,
            "tensor": first.tensor,
            "index": list(first.index),
            "board": first.firmware,
            "expected": first.expected,
        },
    }


def diagnosis_table(seen: Diagnosed, sort: Sort) -> RenderableType:
    """Layers with their errors, a sentence on each, the outputs, and the board."""
    found = seen.diagnosis
    layers = sorted(found.layers, key=_KEYS[sort])
    excluded = seen.without.layers if seen.without is not None else ()
    names = Names((*_names(layers), *found.unknown, *excluded))
    columns = ["layer", "SQNR", "own", "output if alone", "of error"]
    columns += ["values", "range", "clipped", "dead", "worst channels"]
    parts: list[RenderableType] = [
        table("error of each layer", columns, (tuple(_row(layer)) for layer in layers), names),
        lines_below((f"{name}: {seen.advice[name]}" for name in _names(layers)), names),
        lines_below(_summary(seen), names),
    ]
    if seen.board is not None:
        parts += [Text(), *_board_parts(seen.board, names)]
    return Group(*parts)


def _names(layers: list[LayerFindings]) -> Iterator[str]:
    yield from dict.fromkeys(layer.name for layer in layers)


def _row(layer: LayerFindings) -> Iterator[object]:
    values = layer.statistics
    low, high = values.representable
    yield layer.name
    yield from map(decibel, (layer.sqnr_db, layer.own_sqnr_db, layer.output_sqnr_db))
    yield f"{layer.share:.1%}"
    yield f"{values.low.min():.3g}..{values.high.max():.3g}"
    yield f"{low:.3g}..{high:.3g}"
    yield _rate(layer.clipping_rate)
    yield _channels(layer)
    yield ", ".join(f"{c} ({decibel(db)})" for c, db in layer.worst_channels[:2]) or None


def _channels(layer: LayerFindings) -> str | None:
    """How many channels are dead or were taken out, of how many."""
    idle = layer.dead_channels + (len(layer.statistics.low) - len(layer.statistics.places))
    return f"{idle}/{len(layer.statistics.low)}" if idle else None


def _rate(share: float) -> str | None:
    """A share that is not rounded to nothing."""
    if not share:
        return None
    return f"{share:.2%}" if share >= 5e-5 else "<0.01%"


def _summary(seen: Diagnosed) -> Iterator[str]:
    found = seen.diagnosis
    yield f"outputs over {found.samples} samples: {_outcome(found.sqnr_db, found.agreement)}"
    if found.accuracies is not None:
        before, after = (percent(value) for value in found.accuracies)
        yield f"accuracy {before} (float model), {after} (integer model)"
    if seen.without is not None:
        gained = _outcome(seen.without.sqnr_db, seen.without.agreement)
        yield f"with {', '.join(seen.without.layers)} exact: {gained}"
    if found.unknown:
        yield f"not compared, for they stand for no tensor of the model: {', '.join(found.unknown)}"
    yield from (f"note: {note}" for note in seen.notes)


def _outcome(sqnr_db: float, agreement: float | None) -> str:
    agreeing = "" if agreement is None else f", top-1 agreement {percent(agreement)}"
    return f"SQNR {decibel(sqnr_db)}{agreeing}"


def _board_parts(found: BoardFindings, names: Names) -> Iterator[RenderableType]:
    yield table(
        "the board against the integer model",
        ["layer", "values", "differing"],
        ((layer.name, layer.values, layer.differing) for layer in found.layers),
        names,
    )
    verdict = "all equal" if found.first is None else f"first difference: {found.first}"
    yield lines_below([verdict.replace("firmware", "board")], names)
