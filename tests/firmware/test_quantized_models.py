"""ONNX Runtime's quantised models in the emulator, against ONNX Runtime itself (issue 3).

The reference is the model in QDQ form with every optimisation off. The firmware's bytes are those
of the integer model, which rounds once; its classes are ONNX Runtime's.
"""

from pathlib import Path

import numpy as np
import pytest

from tests.firmware.zoo import BOARDS
from tests.quantized.models import data
from tests.quantized.test_real_models import AGREEMENT, FAMILIES, STATED, VALUES, VARIANTS
from toolchain import pipeline

pytestmark = [pytest.mark.emulator]

SAMPLES = 16
"""In CI."""
MANY = {"M4": 700, "M55": 100}
"""In the slow run, at most: on M4 all data of five nets, and 700 of 2000 of three.

The integer model sees all of them, in tests/quantized/test_real_models.py.
"""
QUICK = ("qdq_pc_MinMax_s8", "qop_pt_MinMax_u8", "qdq16_pc_MinMax_s16")


def _judge(name: str, core: str, limit: int, shared: Path, folder: Path) -> None:
    """Convert, emulate, compare; `limit` samples of the test data."""
    model, project = f"q_{name}", folder / "project"
    calibration, test = data(shared, model)
    np.save(folder / "calibration.npy", calibration)
    np.save(folder / "test.npy", test[:limit])
    calib = folder / "calibration.npy" if STATED[model] else None
    source = shared / "models" / f"{model}.onnx"
    assert pipeline.convert(source, calib, BOARDS[core], project).manifest.rounding == "single"
    evaluation, run = pipeline.compare(project, folder / "test.npy", None, "qemu")
    found = evaluation.comparison
    assert run.samples == len(test[:limit])
    assert found.bit_exact is True
    for net, least in VALUES.items():
        if net in model:
            assert found.sqnr_db >= least
            return
    assert found.agreement is not None
    assert found.agreement >= AGREEMENT


@pytest.mark.parametrize(
    ("net", "core", "variant"),
    # Every net on one of two cores: the slow run has all of them on both.
    [(net, *((("M4", QUICK[0]), ("M55", QUICK[1]))[i % 2])) for i, net in enumerate(FAMILIES)],
)
def test_a_few_samples(net: str, core: str, variant: str, shared: Path, tmp_path: Path) -> None:
    _judge(f"{net}__{variant}", core, SAMPLES, shared, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("net", FAMILIES)
def test_many_samples_on_m4(net: str, variant: str, shared: Path, tmp_path: Path) -> None:
    _judge(f"{net}__{variant}", "M4", MANY["M4"], shared, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("variant", QUICK)
@pytest.mark.parametrize("net", FAMILIES)
def test_many_samples_on_m55(net: str, variant: str, shared: Path, tmp_path: Path) -> None:
    _judge(f"{net}__{variant}", "M55", MANY["M55"], shared, tmp_path)
