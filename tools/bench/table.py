"""The tables of docs/performance.md."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.bench.cells import BOARDS, NETS
from tools.bench.figures import REPO, Bench, Figures
from tools.bench.published import CYCLES, CYCLES_SOURCE, DIRECT_SOURCE, TFLM_SOURCE, published

DOCUMENT = REPO / "docs" / "performance.md"
BEGIN, END = "<!-- bench: begin -->\n", "<!-- bench: end -->\n"
_LAYER_CORES = ("M4", "M55")


def markdown(bench: Bench) -> str:
    """All tables."""
    parts = [
        f"Measured with arm-none-eabi-gcc {bench.compiler} and {bench.emulator}; "
        "one sample of random int8 codes.\n",
        "### Executed instructions per inference\n",
        _instructions(bench),
        f"¹ {TFLM_SOURCE}.  \n² {DIRECT_SOURCE}.\n",
        "### Cortex-M4 cycles, an estimate\n",
        _cycles(bench),
        f"³ {CYCLES_SOURCE}. Those are measured on silicon, with its flash; ours are not.\n",
        "### Memory, bytes\n",
        _memory(bench),
        *_layers(bench),
    ]
    return "\n".join(parts)


def update(bench: Bench, path: Path = DOCUMENT) -> None:
    """Write the tables into the document."""
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    text = before + BEGIN + markdown(bench) + END + after
    path.write_text(text, encoding="utf-8", newline="\n")


def found(path: Path = DOCUMENT) -> str:
    """The tables as the document has them."""
    return path.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else str(value)


def _cores(bench: Bench) -> Iterable[tuple[str, str, Figures, Figures]]:
    """(model, core, our figures, those with CMSIS-NN)."""
    for net in NETS:
        for core in BOARDS:
            cell = bench.cells[net][core]
            yield net, core, cell["fast"], cell["cmsis-nn"]


def _instructions(bench: Bench) -> str:
    rows = []
    for net, core, ours, arm in _cores(bench):
        others = published(net, core)
        note = {"TFLM": "¹", "direct": "²"}
        rows.append(
            (
                net,
                core,
                ours.instructions,
                f"{ours.instructions / ours.macs:.2f}",
                arm.instructions,
                f"{arm.instructions / ours.instructions:.2f}",
                f"{others[0]:,}{note[others[1]]}" if others else None,
                f"{others[0] / ours.instructions:.2f}" if others else None,
            )
        )
    head = ("model", "core", "ours", "per MAC", "CMSIS-NN 4.0.0", "ratio", "published", "ratio")
    return _table(head, rows)


def _cycles(bench: Bench) -> str:
    rows = []
    for net in NETS:
        ours, arm = (bench.cells[net]["M4"][family] for family in ("fast", "cmsis-nn"))
        assert ours.cycles is not None
        assert arm.cycles is not None
        per_mac, cpi = ours.cycles / ours.macs, ours.cycles / ours.instructions
        row = (net, ours.cycles, f"{per_mac:.2f}", f"{cpi:.2f}", arm.cycles, CYCLES[net])
        rows.append(row)
    head = (
        "model", "ours", "per MAC", "per instruction", "CMSIS-NN 4.0.0", "best published entry³",
    )  # fmt: skip
    return _table(head, rows)


def _memory(bench: Bench) -> str:
    rows = [
        (
            net,
            core,
            ours.code,
            ours.code_kernels,
            ours.code_generated,
            ours.code_descriptors,
            ours.code_library,
            arm.code,
            ours.weights,
            ours.tables,
            ours.arena,
            ours.stack,
        )
        for net, core, ours, arm in _cores(bench)
    ]
    head = (
        "model", "core", "code", "of it kernels", "generated", "descriptors", "library",
        "code with CMSIS-NN", "weights", "tables", "arena", "stack",
    )  # fmt: skip
    return _table(head, rows)


def _layers(bench: Bench) -> Iterable[str]:
    for net in NETS:
        for core in _LAYER_CORES:
            ours = bench.cells[net][core]["fast"]
            yield f"<details>\n<summary>{net} on {core}, layer by layer</summary>\n"
            head = ["layer", "kernel", "output", "MACs", "instructions", "per MAC", "per output"]
            estimate = ours.cycles is not None
            rows = [
                (
                    layer.op,
                    f"`{layer.kernel}`",
                    "x".join(map(str, layer.shape)),
                    layer.macs or None,
                    layer.instructions,
                    f"{layer.instructions / layer.macs:.2f}" if layer.macs else None,
                    f"{layer.instructions / layer.outputs:.1f}",
                    *((layer.cycles,) if estimate else ()),
                )
                for layer in ours.layers
            ]
            yield _table([*head, *(["cycles (estimate)"] if estimate else [])], rows)
            yield "</details>\n"
