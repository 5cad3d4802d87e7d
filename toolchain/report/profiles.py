"""What `profile` prints: where the instructions of an inference go."""

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType

from toolchain.report.names import Names, printable
from toolchain.report.table import layer_groups, lines_below, table, together_lines
from toolchain.results import FunctionProfile, Profile, ProfiledLayer

BAR = 24
"""Width of the bar of a layer that takes everything, characters."""


def profile_record(seen: Profile) -> dict[str, Any]:
    """Result of `profile`: totals, and every layer with its costs."""
    return {
        "emulator": seen.emulator,
        "core": seen.core,
        "instructions": seen.instructions,
        "instructions_before": seen.before,
        "cycles_estimate": seen.cycles,
        "counted_together": layer_groups(seen.together, [layer.name for layer in seen.layers]),
        "layers": [
            {
                "name": layer.name,
                "kernel": layer.kernel,
                "instructions": layer.instructions,
                "instructions_before": layer.before,
                "share": layer.instructions / max(seen.instructions, 1),
                "saved_by_halving": seen.saved_by_halving(layer),
                "macs": layer.macs,
                "weight_bytes": layer.weight_bytes,
                "activation_bytes": layer.activation_bytes,
                "macs_per_byte": layer.intensity,
                "bound": layer.bound,
                "least_cycles": layer.roof.least_cycles(layer.macs, layer.moved_bytes),
                "cycles_estimate": layer.cycles,
            }
            for layer in seen.layers
        ],
    }


def profile_table(seen: Profile) -> RenderableType:
    """Layers with their share as a bar; then what halving the dearest ones would gain."""
    columns = ["layer", "kernel", "instructions", "share", "", "halved", "MACs", "per MAC"]
    columns += ["bytes moved", "MACs per byte", "bound"]
    if seen.cycles is not None:
        columns += ["cycles (estimate)"]
    if seen.before is not None:
        columns += ["before", "change"]
    names = Names(layer.name for layer in seen.layers)
    return Group(
        table(
            f"executed instructions per inference ({seen.emulator}, {seen.core})",
            columns,
            (tuple(_row(layer, seen)) for layer in seen.layers),
            names,
        ),
        lines_below(_summary(seen), names),
    )


def _row(layer: ProfiledLayer, seen: Profile) -> Iterator[object]:
    share = layer.instructions / max(seen.instructions, 1)
    yield from (layer.name, layer.kernel, layer.instructions, f"{share:.1%}")
    yield ("#" * round(BAR * share)).ljust(BAR)
    yield f"-{seen.saved_by_halving(layer):.1%}"
    yield layer.macs or None
    yield f"{layer.instructions / layer.macs:.2f}" if layer.macs else None
    yield layer.moved_bytes
    yield f"{layer.intensity:.1f}" if layer.macs else None
    yield layer.bound
    if seen.cycles is not None:
        yield layer.cycles
    if seen.before is not None:
        yield layer.before
        yield change(layer.instructions, layer.before)


def change(now: int, before: int | None) -> str | None:
    """How much a count grew, in percent; None when there is nothing to compare with."""
    return f"{now / before - 1:+.1%}" if before else None


def _summary(seen: Profile) -> Iterator[str]:
    compared = ""
    if seen.before is not None:
        compared = f"; {seen.before:,} before ({change(seen.instructions, seen.before)})"
    yield f"{seen.instructions:,} instructions per inference{compared}"
    if seen.cycles is not None:
        yield f"{seen.cycles:,} cycles per inference, an estimate"
    dearest = sorted(seen.layers, key=lambda layer: -layer.instructions)[:3]
    for layer in dearest:
        saved = seen.saved_by_halving(layer)
        yield f"{layer.name} at half its instructions: {saved:.1%} fewer in total"
    yield from together_lines(seen.together, [layer.name for layer in seen.layers])


def functions_record(seen: FunctionProfile) -> dict[str, Any]:
    """The keys that `profile --functions` adds."""
    return {
        "functions_counted_by": list(seen.engines),
        "functions": [
            {
                "name": name,
                "instructions": count,
                "layers": {layer: n[name] for layer, n in seen.layers if name in n},
            }
            for name, count in seen.totals
        ],
    }


def functions_table(seen: FunctionProfile) -> RenderableType:
    """Functions with their share of an inference, the dearest first."""
    total = max(sum(count for _, count in seen.totals), 1)
    return table(
        f"executed instructions per function ({' and '.join(seen.engines)})",
        ("function", "instructions", "share", ""),
        (
            (name, count, f"{count / total:.1%}", ("#" * round(BAR * count / total)).ljust(BAR))
            for name, count in seen.totals
        ),
    )


def collapsed_stacks(seen: FunctionProfile) -> str:
    """One line per layer and function for tools that draw flame graphs: "run;layer;function N"."""
    lines = []
    for layer, counts in seen.layers:
        shown = printable(layer).replace(";", ":")
        for name, count in sorted(counts.items()):
            leaf = [] if name == seen.root else [name]
            lines.append(f"{';'.join([seen.root, shown, *leaf])} {count}\n")
    return "".join(lines)
