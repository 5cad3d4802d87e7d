"""docs/quality.md from docs/quality.json, and what ONNX Runtime's quantiser reaches."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.bench.quality import CALIBRATION, Quality, Results

PAGE = Path("docs/quality.md")


@dataclass(frozen=True)
class Anchor:
    """What ONNX Runtime's QDQ quantisation per channel with min-max ranges reaches.

    Args:
        sqnr_db: SQNR of the output.
        agreement: Share of samples with the float model's class; None where there are no classes.
    """

    sqnr_db: float
    agreement: float | None


ANCHORS = {
    "kws": Anchor(28.5, 0.979),
    "ic": Anchor(20.1, 0.950),
    "vww": Anchor(39.1, 1.0),
    "ad": Anchor(42.0, None),
    "digits": Anchor(38.0, 1.0),
    "fashion": Anchor(33.7, 0.993),
    "vowels": Anchor(37.9, 0.997),
    "lenet": Anchor(46.1, 0.998),
    "sepconv": Anchor(31.0, 0.989),
    "ae": Anchor(39.1, None),
    "breast": Anchor(34.3, 1.0),
    "wine": Anchor(33.4, 1.0),
}
"""ONNX Runtime 1.32.0, quantize_static to int8 QDQ: of the shared models it quantised (q_*)
and of a quantisation with the calibration samples of this page the one of higher SQNR."""

_HEAD = f"""# Quality of int8

`make quality` measures and writes [quality.json](quality.json) and this page from it: the integer
model, whose bytes are those of the firmware, over whole test sets. Calibrated with at most
{CALIBRATION} samples; kws, ic, vww and ad have one set for both, and ic and vww are crops of two
photographs without labels.

Cells: SQNR of the output in dB / share of samples with the class of the float model / accuracy.
`auto` is `--calibration auto`, `plain` is `--calibration minmax`. ONNX Runtime: its static
quantisation per channel (QDQ, min-max) of the same models, run without optimisation; where there
are two, with these calibration samples and with others, the better one. Coded: accuracy of the
float model's own outputs when they are rounded to the int8 codes that the output has with `auto`;
what such codes lose, nothing but a finer output brings back (`--int16` with the last layer).

| net | samples | float | coded | ONNX Runtime | plain | auto |
|---|---:|---:|---:|---:|---:|---:|
"""
_DETAILS = """
## What helped

By how many dB each technique of `auto` lowers the error of the outputs on held-back calibration
samples, and the processor time of the calibration on the machine that wrote this page.

| net | kept | seconds |
|---|---|---:|
"""


def markdown(results: Results) -> str:
    """The whole page."""
    rows = "".join(_row(net, found.plain, found.auto) for net, found in results.items())
    return f"{_HEAD}{rows}{_DETAILS}{''.join(_details(results))}"


def _details(results: Results) -> Iterator[str]:
    for net, found in results.items():
        kept = ", ".join(f"{k.technique} {k.gain_db:.1f}" for k in found.auto.kept) or "nothing"
        yield f"| {net} | {kept} | {found.auto.seconds} |\n"


def _row(net: str, plain: Quality, auto: Quality) -> str:
    anchor = ANCHORS.get(net)
    theirs = "" if anchor is None else _cell(anchor.sqnr_db, anchor.agreement, None)
    ours = [_cell(q.sqnr_db, q.agreement, q.accuracy_int8) for q in (plain, auto)]
    best = ["" if a is None else f"{a:.4f}" for a in (auto.accuracy_float, auto.accuracy_coded)]
    cells = [net, f"{auto.samples:,}", *best, theirs, *ours]
    return f"| {' | '.join(cells)} |\n"


def _cell(sqnr: float, agreement: float | None, accuracy: float | None) -> str:
    parts = [f"{sqnr:.1f}"]
    parts += [] if agreement is None else [f"{agreement:.3f}"]
    parts += [] if accuracy is None else [f"{accuracy:.4f}"]
    return " / ".join(parts)
