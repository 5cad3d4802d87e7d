"""int8 quality over whole test sets, against ONNX Runtime's per-channel quantisation.

The anchors are those of the shared folder's README: ONNX Runtime QDQ per channel, min-max, SQNR
rounded to whole dB.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.firmware.zoo import ZOO
from toolchain import passes
from toolchain.check.evaluate import Evaluation, evaluate
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.frontend.samples import load_samples
from toolchain.frontend.session import FloatSession
from toolchain.quant.calibrate import calibrate
from toolchain.quant.quantize import calibrated_tensors, quantize


@dataclass(frozen=True)
class Anchor:
    """What ONNX Runtime reaches; agreement None where the output names no class."""

    sqnr_db: int
    agreement: float | None
    accuracy_float: float | None


ANCHORS = {
    "kws": Anchor(28, 0.979, 0.8166),
    "ad": Anchor(42, None, None),
    "fashion": Anchor(34, 0.993, 0.9105),
    "digits": Anchor(38, 1.0, 0.9921),
    "vowels": Anchor(38, 0.995, 0.9811),
}


def _evaluate(name: str, shared: Path, folder: Path) -> Evaluation:
    """Calibrate on the whole calibration set (at most 512 samples), judge on the whole test set."""
    entry = ZOO[name]
    calibration, test, labels = entry.arrays(shared)
    np.save(folder / "calibration.npy", calibration[:512])
    np.savez(folder / "test.npz", x=test, **({} if labels is None else {"y": labels}))
    model = load_model(entry.path(shared))
    imported = read(model, name)
    graph = passes.run(imported.graph)
    tensors = calibrated_tensors(graph)
    samples = load_samples(folder / "calibration.npy", imported.inputs)
    ranges = calibrate(FloatSession(model, tensors), samples, tensors)
    integer = quantize(graph, ranges).graph
    return evaluate(model, integer, load_samples(folder / "test.npz", imported.inputs, stage="t"))


@pytest.mark.parametrize("name", ANCHORS)
def test_quality_is_not_below_onnx_runtime(name: str, shared: Path, tmp_path: Path) -> None:
    anchor, found = ANCHORS[name], _evaluate(name, shared, tmp_path).comparison
    assert round(found.sqnr_db) >= anchor.sqnr_db
    if anchor.agreement is not None:
        assert found.agreement is not None
        assert round(found.agreement, 3) >= anchor.agreement
    if anchor.accuracy_float is not None:
        assert found.accuracy_float == pytest.approx(anchor.accuracy_float, abs=5e-5)
        assert found.accuracy_int8 is not None
        assert found.accuracy_int8 >= anchor.accuracy_float - 0.005


def test_crops_agree_with_float(shared: Path, tmp_path: Path) -> None:
    assert (_evaluate("ic", shared, tmp_path).comparison.agreement or 0) >= 0.96
