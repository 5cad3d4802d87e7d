"""int8 against float over whole test sets, beside ONNX Runtime's quantiser: docs/quality.md."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

from toolchain import passes
from toolchain.check.evaluate import evaluate
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.frontend.samples import load_samples
from toolchain.options import silent
from toolchain.quant.choose import choose
from toolchain.quant.quantize import quantize
from toolchain.quant.refine import Gain, Wanted
from tools.bench.nets import ZOO

PAGE = Path("docs/quality.md")
CALIBRATION = 512
"""Calibration samples at most."""

PLAIN = Wanted("minmax", weights=False)
BEST = Wanted()


@dataclass(frozen=True)
class Anchor:
    """What ONNX Runtime's QDQ quantisation per channel with min-max ranges reaches.

    Args:
        sqnr_db: SQNR of the output, rounded to whole dB.
        agreement: Share of samples with the float model's class; None where there are no classes.
    """

    sqnr_db: int
    agreement: float | None


ANCHORS = {
    "kws": Anchor(28, 0.979),
    "ad": Anchor(42, None),
    "fashion": Anchor(34, 0.993),
    "digits": Anchor(38, 1.0),
    "vowels": Anchor(38, 0.995),
}
"""Measured with the data and the calibration sets of this page, on the shared models."""

NO_CLASSES = ("ad",)
"""The output is a reconstruction; which of its elements is largest means nothing."""


@dataclass(frozen=True)
class Quality:
    """What was measured; None is unknown.

    Args:
        samples: Test samples.
        sqnr_db: SQNR of the worst output.
        agreement: Share of samples with the float model's class.
        accuracy_float: Share of samples the float model classifies as labelled.
        accuracy_int8: The same of the integer model.
        seconds: Processor time of the calibration.
        gains: What was tried.
    """

    samples: int
    sqnr_db: float
    agreement: float | None
    accuracy_float: float | None
    accuracy_int8: float | None
    seconds: float
    gains: tuple[Gain, ...]


def measure_quality(net: str, shared: Path, wanted: Wanted, tests: int | None = None) -> Quality:
    """Calibrate a net and run its integer model over its test set.

    Args:
        net: Name in ZOO.
        shared: Folder with models/ and data/.
        wanted: How ranges and weights are chosen.
        tests: Test samples at most.
    """
    entry = ZOO[net]
    calibration, test, labels = entry.arrays(shared)
    with tempfile.TemporaryDirectory(prefix="onnx2mcu-quality-") as name:
        folder = Path(name)
        np.save(folder / "calibration.npy", calibration[:CALIBRATION])
        arrays = {"x": test[:tests]} | ({} if labels is None else {"y": labels[:tests]})
        np.savez(folder / "test.npz", **arrays)  # type: ignore[arg-type]
        model = load_model(entry.path(shared))
        imported = read(model, net)
        graph = passes.run(imported.graph)
        start = process_time()
        samples = load_samples(folder / "calibration.npy", imported.inputs)
        chosen = choose(graph, model, samples, wanted, silent)
        integer = quantize(chosen.graph, chosen.ranges).graph
        seconds = process_time() - start
        judged = load_samples(folder / "test.npz", imported.inputs, stage="test")
        found = evaluate(model, integer, judged).comparison
    agreement = None if net in NO_CLASSES else found.agreement
    return Quality(
        len(arrays["x"]),
        found.sqnr_db,
        agreement,
        found.accuracy_float,
        found.accuracy_int8,
        seconds,
        chosen.gains,
    )


def write_page(shared: Path, nets: Iterable[str] = tuple(ZOO)) -> None:
    """Measure every net both ways and write docs/quality.md."""
    rows, details = [], []
    for net in nets:
        plain, best = (measure_quality(net, shared, wanted) for wanted in (PLAIN, BEST))
        rows.append(_row(net, plain, best))
        kept = [f"{g.technique} {g.gain_db:.1f}" for g in best.gains if g.kept]
        details.append(f"- {net}: {', '.join(kept) or 'nothing'}; {best.seconds:.0f} s")
        print(rows[-1], flush=True)
    lines = [*_HEAD, *rows, "", *_DETAILS, *details]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


_HEAD = (
    "# Quality of int8",
    "",
    "Written by `python -m tools.bench quality`: the integer model, whose bytes are those of the",
    f"firmware, over whole test sets; calibrated with at most {CALIBRATION} samples. kws, ic, vww",
    "and ad have one set for both.",
    "",
    "SQNR of the output in dB / share of samples with the class of the float model / accuracy.",
    "`auto` is the default, `plain` is `--calibration minmax --weights nearest`. ONNX Runtime: its",
    "static quantisation per channel (QDQ, min-max) of the same models with the same data.",
    "",
    "| net | samples | float | ONNX Runtime | plain | auto |",
    "|---|---:|---:|---:|---:|---:|",
)
_DETAILS = (
    "## What helped",
    "",
    "By how many dB each technique lowers the error of the outputs on held-back calibration",
    "samples, and the processor time of the calibration.",
    "",
)


def _row(net: str, plain: Quality, best: Quality) -> str:
    anchor = ANCHORS.get(net)
    theirs = "" if anchor is None else _cell(anchor.sqnr_db, anchor.agreement, None)
    ours = [_cell(q.sqnr_db, q.agreement, q.accuracy_int8) for q in (plain, best)]
    exact = "" if best.accuracy_float is None else f"{best.accuracy_float:.4f}"
    return f"| {' | '.join([net, f'{best.samples:,}', exact, theirs, *ours])} |"


def _cell(sqnr: float, agreement: float | None, accuracy: float | None) -> str:
    parts = [f"{sqnr:.1f}" if isinstance(sqnr, float) else f"{sqnr}"]
    parts += [] if agreement is None else [f"{agreement:.3f}"]
    parts += [] if accuracy is None else [f"{accuracy:.4f}"]
    return " / ".join(parts)
