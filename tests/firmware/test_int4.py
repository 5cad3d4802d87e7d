"""int4 weights in the emulator: the firmware's bytes are the integer model's."""

from pathlib import Path

import numpy as np
import pytest

from tests.firmware.test_mixed import CORES, EXAMPLE, _digits
from toolchain import pipeline
from toolchain.check.compare import Gates
from toolchain.ops.int4 import Int4Layer
from toolchain.options import ConvertOptions

pytestmark = [pytest.mark.emulator]


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("options", [{}, {"int16": ("*depthwise1*",)}, {"ram": "min"}], ids=str)
def test_layers_of_the_example(core: str, options: dict, tmp_path: Path) -> None:
    """All layers that can, beside int16 codes too, and row by row."""
    folder = tmp_path / "project"
    project = _digits(core, folder, ConvertOptions(int4=("*",), **options))
    few = [op for op in project.graph().ops if isinstance(op, Int4Layer)]
    assert few
    for op in few:
        assert np.abs(project.graph().constants[op.inputs[1]]).max() <= 7
    bits = {layer.op: layer.weight_bits for layer in project.manifest.layers}
    assert (bits["Int4Conv2D"], bits["Int4FullyConnected"]) == (4, 4)
    packed = {x.name: x.weights_bytes for x in project.manifest.layers if x.weight_bits == 4}
    for op in few:
        weights, bias = (project.graph().constants[n] for n in op.inputs[1:])
        assert packed[op.name] == weights.size // 2 + bias.nbytes
    (note,) = [n for n in project.manifest.notes if n.startswith("int4 weights")]
    assert "bytes less; on held-back samples SQNR" in note
    evaluation, _ = pipeline.compare(folder, EXAMPLE / "test.npz", None, "qemu", 12)
    assert evaluation.comparison.bit_exact is True


def test_layers_chosen_by_what_the_gate_allows(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    gates = Gates(min_sqnr=30.0)
    wanted = ConvertOptions(method="auto", refine_weights=True, int4=("auto",), gates=gates)
    project = _digits("M4", folder, wanted)
    kinds = {type(op).__name__ for op in project.graph().ops}
    assert kinds & {"Int4Conv2D", "Int4FullyConnected"}
    assert kinds & {"Conv2D", "FullyConnected"}
    evaluation, _ = pipeline.compare(folder, EXAMPLE / "test.npz", None, "qemu", 60)
    assert evaluation.comparison.bit_exact is True
