"""int8 against float over whole test sets, beside ONNX Runtime's quantiser."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import process_time

import msgspec
import numpy as np

from toolchain import passes
from toolchain.check.evaluate import evaluate
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.frontend.samples import load_samples
from toolchain.options import silent
from toolchain.quant.choose import choose
from toolchain.quant.quantize import quantize
from toolchain.quant.refine import Wanted
from tools.bench.nets import ZOO

RESULTS = Path("docs/quality.json")
CALIBRATION = 512
"""Calibration samples at most."""

PLAIN = Wanted("minmax", weights=False)
BEST = Wanted()


NO_CLASSES = ("ad", "ae")
"""The output is a reconstruction; which of its elements is largest means nothing."""


class Kept(msgspec.Struct, frozen=True):
    """A technique in the result, and how much lower it made the outputs' error, in dB."""

    technique: str
    gain_db: float


class Quality(msgspec.Struct, frozen=True):
    """What was measured; None is unknown.

    Args:
        samples: Test samples.
        sqnr_db: SQNR of the worst output.
        agreement: Share of samples with the float model's class.
        accuracy_float: Share of samples the float model classifies as labelled.
        accuracy_int8: The same of the integer model.
        accuracy_coded: The same of the float model's outputs in the codes of the integer model's.
        seconds: Processor time of the calibration.
        kept: What helped.
    """

    samples: int
    sqnr_db: float
    agreement: float | None
    accuracy_float: float | None
    accuracy_int8: float | None
    accuracy_coded: float | None
    seconds: int
    kept: tuple[Kept, ...]


class Net(msgspec.Struct, frozen=True):
    """One model, calibrated in both ways."""

    plain: Quality
    auto: Quality


Results = Mapping[str, Net]


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
        done = evaluate(model, integer, judged)
    found, classes = done.comparison, net not in NO_CLASSES
    return Quality(
        len(arrays["x"]),
        round(found.sqnr_db, 2),
        _rounded(found.agreement) if classes else None,
        _rounded(found.accuracy_float),
        _rounded(found.accuracy_int8),
        _rounded(found.accuracy_coded),
        round(seconds),
        tuple(Kept(g.technique, round(g.gain_db, 1)) for g in chosen.gains if g.kept),
    )


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 5)


def measure_all(shared: Path) -> Results:
    """Every net in both ways."""
    found = {}
    for net in ZOO:
        plain, auto = (measure_quality(net, shared, wanted) for wanted in (PLAIN, BEST))
        found[net] = Net(plain, auto)
        print(f"{net:8}{plain.sqnr_db:8.1f} dB plain{auto.sqnr_db:8.1f} dB auto", flush=True)
    return found


def save(results: Results, path: Path = RESULTS) -> None:
    """Write the results as JSON, a net in a line."""
    lines = [f"  {msgspec.json.encode({n: r}).decode()[1:-1]}" for n, r in results.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def load(path: Path = RESULTS) -> Results:
    """Read them."""
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Net])
