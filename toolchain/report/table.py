"""Tables on the terminal."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolchain.board import Board
from toolchain.check.evaluate import Evaluation
from toolchain.project import Manifest
from toolchain.report.advice import advise
from toolchain.report.names import Names, manifest_names, printable
from toolchain.report.picture import arena_text
from toolchain.report.support import operator_records
from toolchain.results import Built, Emulation, Inspection
from toolchain.run.doctor import Check

_LEFT = {"", "operator", "kernel", "shape", "board", "value", "notes", "part", "core", "detail"}
_NAMING = {"layer", "output"}
"""Heads of columns with names of a model's layers or tensors."""


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    names: Names | None = None,
) -> Table:
    """A plain table: words to the left, numbers to the right.

    Args:
        title: Above it.
        columns: Their heads.
        rows: Cells. The first ones of a column that names things of a model are names.
        names: Their short forms; None: those of this table alone.
    """
    result = Table(title=Text(printable(title)), title_justify="left", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        left = index == 0 or column in _LEFT
        result.add_column(column, justify="left" if left else "right", overflow="fold")
    cells = [list(map(number, row)) for row in rows]
    if columns[0] in _NAMING:
        shown = names or Names(row[0] for row in cells)
        cells = [[shown.of(row[0]), *row[1:]] for row in cells]
    for row in cells:
        result.add_row(*(Text(printable(cell)) for cell in row))
    return result


def lines_below(lines: Iterable[str], names: Names | None = None) -> Text:
    """Lines below a table, after an empty one, with the names in them as in the table."""
    return Text((names or Names()).lines(lines))


def number(value: object) -> str:
    """Integers with thousands separators, anything else as text; None is unknown."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def decibel(value: float) -> str:
    """A ratio in dB; no error at all is "exact"."""
    return "exact" if value == float("inf") else f"{value:.1f} dB"


def percent(value: float | None) -> str | None:
    """A share as a percentage; None stays unknown."""
    return None if value is None else f"{value:.2%}"


def inspect_table(seen: Inspection) -> RenderableType:
    """Layers, totals, and whether the model fits."""
    lines = [
        f"{sum(layer.macs for layer in seen.layers):,} MACs, "
        f"{sum(layer.weights_bytes for layer in seen.layers):,} bytes of int8 weights and biases",
        f"activations: {seen.peak_bytes:,} bytes at the peak, {seen.peak_layer}",
    ]
    if seen.board is not None:
        lines += _fit_lines(seen, seen.board)
    names = Names((*(layer.name for layer in seen.layers), seen.peak_layer))
    return Group(
        table(
            seen.graph.name,
            ("layer", "operator", "shape", "MACs", "weights"),
            (
                (x.name, x.op, "x".join(map(str, x.shape)), x.macs or None, x.weights_bytes or None)
                for x in seen.layers
            ),
            names,
        ),
        lines_below([*lines, *(f"note: {note}" for note in seen.notes)], names),
    )


def _fit_lines(seen: Inspection, board: Board) -> Iterator[str]:
    """Whether a board has room, or which memory has not, and what may help."""
    sizes = f"({board.ram.bytes:,} bytes RAM, {board.flash.bytes:,} bytes flash)"
    if seen.fits:
        yield f"{board.name}: fits {sizes}"
        return
    yield f"{board.name}: DOES NOT FIT layer by layer {sizes}"
    for short in seen.short:
        ram = short.memory == board.ram.name
        what = "activations and stack" if ram else "weights"
        less = "; convert needs less where an output may lie over its input" if ram else ""
        yield f"{short.memory}: {what} take {short.needed:,} bytes, {short.there:,} are there{less}"
        yield from (f"what may help: {way}" for way in short.ways)


def convert_table(manifest: Manifest) -> RenderableType:
    """Layers with their kernels, and the memory."""
    names = manifest_names(manifest)
    proof = "optimal" if manifest.arena_optimal else "not proved optimal"
    advice = advise(manifest)
    lines = [
        f"arena {manifest.arena_bytes:,} bytes; lower bound {manifest.arena_lower_bound:,} "
        f"({proof}); peak at {manifest.peak_layer}",
        f"the peak: {advice.limit}",
        *(f"to lower it: {way}" for way in advice.ways),
        f"weights and tables {manifest.weights_bytes:,} bytes; {manifest.macs:,} MACs",
        *(f"note: {note}" for note in manifest.notes),
        *(f"warning: {warning}" for warning in manifest.warnings),
    ]
    return Group(
        table(
            f"{manifest.source} for {manifest.board.name}",
            ("layer", "operator", "kernel", "shape", "MACs", "weights", "predicted"),
            (
                (
                    layer.name,
                    layer.op,
                    layer.kernel,
                    "x".join(map(str, layer.shape)),
                    layer.macs or None,
                    layer.weights_bytes or None,
                    layer.predicted,
                )
                for layer in manifest.layers
            ),
            names,
        ),
        lines_below(lines, names),
        lines_below(arena_text(manifest)),
    )


def build_table(built: Built) -> RenderableType:
    """Flash and RAM of the program against the board's."""
    sizes, board = built.sizes, built.board
    flash, ram = board.flash.bytes, board.ram.bytes
    return Group(
        table(
            f"{built.programs.firmware}",
            ("part", "flash", "RAM"),
            (
                ("code", sizes.code, None),
                ("weights and tables", sizes.weights, None),
                ("initialised data", sizes.data, sizes.data),
                ("arena and zeroed data", None, sizes.bss),
                ("stack", None, sizes.stack),
                ("total", sizes.flash, sizes.ram),
                (f"{board.name} has", flash, ram),
                ("used", f"{sizes.flash / flash:.1%}", f"{sizes.ram / ram:.1%}"),
            ),
        ),
        lines_below([*memory_lines(built), stack_line(built)]),
    )


def memory_lines(built: Built) -> list[str]:
    """Bytes used of every memory besides the board's flash and RAM."""
    return [
        f"{name}: {used:,} of {built.board.usable(name).bytes:,} bytes"
        for name, used in built.sizes.memories.items()
    ]


def stack_line(built: Built) -> str:
    """The deepest stack of an inference, and through which functions."""
    worst = built.facts.inference
    path = " > ".join(worst.path)
    return f"an inference takes at most {worst.bytes:,} bytes of stack: {path}"


def profile_table(manifest: Manifest, run: Emulation) -> RenderableType:
    """Instructions per layer beside its MACs."""
    names = manifest_names(manifest)
    return Group(
        table(
            f"executed instructions per inference ({run.emulator}, {run.core})",
            ("layer", "instructions", "share", "MACs", "per MAC"),
            (
                (
                    name,
                    count,
                    f"{count / max(run.instructions, 1):.1%}",
                    fact.macs or None,
                    f"{count / fact.macs:.2f}" if fact.macs else None,
                )
                for (name, count), fact in zip(run.layers, manifest.layers, strict=True)
            ),
            names,
        ),
        lines_below(
            [
                f"{run.instructions:,} instructions per inference over {run.samples} samples, "
                f"peak stack {run.stack_bytes:,} bytes",
                *(f"{name} gives the same bytes and counts" for name in run.agreeing),
                *([_POISONED] if run.poisoned else []),
                *_alone(run),
                *together_lines(run.together, [name for name, _ in run.layers]),
                *([_PROFILE] if run.together else []),
                *_printed(run),
            ],
            names,
        ),
    )


_POISONED = "the same bytes when dead memory is overwritten before every layer"
_PROFILE = "onnx2mcu profile counts them one by one, with QEMU's plugins or with Unicorn"


def layer_groups(together: Sequence[tuple[int, int]], names: Sequence[str]) -> list[list[str]]:
    """Names of the layers that were counted together, group by group.

    Args:
        together: Index of the first one, and of the one behind the last.
        names: All layers.
    """
    return [list(names[first:end]) for first, end in together]


def together_lines(together: Sequence[tuple[int, int]], names: Sequence[str]) -> Iterator[str]:
    """A line for every group of layers that were counted together; see `layer_groups`."""
    for group in layer_groups(together, names):
        count = f"{len(group)} layers together, from {group[0]} on"
        yield f"{group[-1]} has the instructions of {count}: they run row by row"


def _printed(run: Emulation) -> Iterator[str]:
    """The console of the firmware."""
    if run.console:
        yield "the firmware printed:"
        yield from (f"  {printable(line)}" for line in run.console.splitlines())


def _alone(run: Emulation) -> Iterator[str]:
    """Which engines were wanted and did not run; `doctor` says why."""
    if run.absent:
        alone = "" if run.agreeing else f": nothing to compare {run.emulator} with"
        yield f"not run here: {', '.join(run.absent)}{alone} (see onnx2mcu doctor)"


def compare_table(evaluation: Evaluation, names: Names | None = None) -> RenderableType:
    """Both judgements, and the error of every layer.

    Args:
        evaluation: What was measured.
        names: Short forms of the layers' names; None: those of this table alone.
    """
    found = evaluation.comparison
    exact = {True: "equal, byte for byte", False: "DIFFERENT", None: "not run"}
    worst = dict(found.worst_layers)
    return Group(
        table(
            "error of each layer",
            ("layer", "SQNR", ""),
            (
                (name, None if db is None else decibel(db), "<- worst" if name in worst else "")
                for name, db in evaluation.layers
            ),
            names,
        ),
        Text(""),
        table(
            "comparison",
            ("what", "value"),
            (
                ("firmware against integer model", exact[found.bit_exact]),
                ("max abs error against float", f"{found.max_abs_error:.4g}"),
                ("SQNR", decibel(found.sqnr_db)),
                ("cosine", f"{found.cosine:.5f}"),
                ("top-1 agreement", percent(found.agreement)),
                ("accuracy, float model", percent(found.accuracy_float)),
                ("accuracy, firmware", percent(found.accuracy_int8)),
            ),
        ),
        lines_below(
            [
                *(f"note: {note}" for note in evaluation.notes),
                "passed" if found.passed else "FAILED",
            ]
        ),
    )


def run_table(
    manifest: Manifest, built: Built, evaluation: Evaluation, run: Emulation, page: Path
) -> RenderableType:
    """Everything `run` found."""
    return Group(
        convert_table(manifest),
        Text(""),
        build_table(built),
        Text(""),
        profile_table(manifest, run),
        Text(""),
        compare_table(evaluation, manifest_names(manifest)),
        Text(printable(f"report: {page}")),
    )


def board_table(boards: Sequence[Board]) -> RenderableType:
    """The boards with core and memory."""
    return table(
        "boards",
        ("board", "core", "MHz", "flash", "RAM", "part"),
        (
            (b.name, b.cpu, b.clock_hz // 10**6, b.flash.bytes, b.ram.bytes, b.description)
            for b in boards
        ),
    )


def operator_table() -> RenderableType:
    """The supported ONNX operators."""
    rows = ((row["operator"], row["notes"]) for row in operator_records())
    return table("ONNX operators", ("operator", "notes"), rows)


def doctor_table(checks: Sequence[Check]) -> RenderableType:
    """What is installed and what is missing."""
    return table(
        "this machine",
        ("what", "state", "detail"),
        (
            (c.name, "ok" if c.ok else "missing", c.detail if c.ok or not c.hint else c.hint)
            for c in checks
        ),
    )
