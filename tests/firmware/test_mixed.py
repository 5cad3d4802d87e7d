"""Mixed precision in the emulator: the firmware's bytes are the integer model's."""

from pathlib import Path

import numpy as np
import pytest

from tests.firmware.zoo import BOARDS
from tests.quantized.models import data
from tests.quantized.test_real_models import AGREEMENT
from toolchain import pipeline
from toolchain.check.compare import Gates
from toolchain.ir import DType
from toolchain.options import ConvertOptions
from toolchain.project import Project

pytestmark = [pytest.mark.emulator]

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits"
CORES = ("M3", "M4", "M55")
MIXTURES = {
    "begin": ("*stem*", "*depthwise1*"),
    "middle": ("*pointwise1*", "/Add"),
    "end": ("*Gemm", "*Softmax"),
}
"""Layers of the example with int16 codes: with the input, between borders, with the output."""


def _digits(core: str, folder: Path, options: ConvertOptions) -> Project:
    calibration = EXAMPLE / "calibration.npz"
    return pipeline.convert(EXAMPLE / "model.onnx", calibration, BOARDS[core], folder, options)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("mixture", MIXTURES)
def test_some_layers_of_the_example(core: str, mixture: str, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    graph = _digits(core, folder, ConvertOptions(int16=MIXTURES[mixture])).graph()
    kinds = {op.writes for op in graph.ops if not op.is_view}
    assert kinds == {DType.INT8, DType.INT16}
    assert (graph.types[graph.inputs[0]].dtype is DType.INT16) == (mixture == "begin")
    assert (graph.types[graph.outputs[0]].dtype is DType.INT16) == (mixture == "end")
    evaluation, _ = pipeline.compare(folder, EXAMPLE / "test.npz", None, "qemu", 12)
    assert evaluation.comparison.bit_exact is True
    assert evaluation.comparison.agreement == 1.0


def test_layers_chosen_by_what_the_gate_needs(tmp_path: Path) -> None:
    """With refined weights, which the layers take again beside their neighbours' new codes."""
    folder = tmp_path / "project"
    gates = Gates(min_sqnr=46.0)
    wanted = ConvertOptions(method="auto", refine_weights=True, int16=("auto",), gates=gates)
    project = _digits("M4", folder, wanted)
    (note,) = [n for n in project.manifest.notes if n.startswith("int16 auto")]
    assert "enough" not in note
    assert any(op.writes is DType.INT16 for op in project.graph().ops)
    evaluation, _ = pipeline.compare(folder, EXAMPLE / "test.npz", None, "qemu", 60)
    assert evaluation.comparison.bit_exact is True


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("net", ["mlperf_kws", "digits_resnet", "mnist_lenet"])
def test_a_model_that_states_int16_codes(net: str, core: str, shared: Path, tmp_path: Path) -> None:
    model, folder = f"q_{net}__qdq16_pc_MinMax_s16", tmp_path / "project"
    calibration, test = data(shared, model)
    np.save(tmp_path / "calibration.npy", calibration)
    np.save(tmp_path / "test.npy", test[:4])
    source = shared / "models" / f"{model}.onnx"
    project = pipeline.convert(source, tmp_path / "calibration.npy", BOARDS[core], folder)
    graph = project.graph()
    assert graph.types[graph.inputs[0]].dtype is DType.INT16
    evaluation, _ = pipeline.compare(folder, tmp_path / "test.npy", None, "qemu")
    assert evaluation.comparison.bit_exact is True
    assert (evaluation.comparison.agreement or 0.0) >= AGREEMENT
