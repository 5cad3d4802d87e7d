"""Single rounding: which operators it concerns, and that nothing is mixed up."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.firmware.test_operators import _instance
from tests.ops import host
from tests.ops.host import any_codes, generate
from toolchain.board import Isa
from toolchain.ir import Graph, Op, Rounding, Target
from toolchain.ir.execute import simulate
from toolchain.resources import CMSIS_GLUE

REQUANTISING = (
    "Add", "AveragePool", "Conv2D", "ConvTranspose2D", "DepthwiseConv2D", "FullyConnected",
    "GroupedConv2D", "Int16Add", "Int16AveragePool", "Int16Concat", "Int16Conv2D",
    "Int16DepthwiseConv2D", "Int16FullyConnected", "Int16GroupedConv2D", "Int16Mul", "Int16Sub",
    "Int4Conv2D", "Int4FullyConnected", "MatMul", "Mul", "PRelu", "ReduceSum", "Requantize", "Sub",
    "Sum",
)  # fmt: skip
HARDLY = {"Add", "Int16Add", "Int16Mul", "Int16Sub", "Sub", "Sum"}
"""Among those: values have so many bits more than their outputs that few lie near a half."""


def _outputs(graph: Graph, seed: int) -> bytes:
    """The integer model's bytes on random codes."""
    rng = np.random.default_rng(seed)
    values = simulate(graph, {x: any_codes(graph, x, rng) for x in graph.inputs})
    return b"".join(values[y].tobytes() for y in graph.outputs)


@pytest.mark.parametrize("name", sorted(Op.registry))
def test_it_concerns_these_operators(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    differs = False
    for seed in range(0 if name in HARDLY else 60):
        both = []
        for rounding in Rounding:
            monkeypatch.setattr(host, "rounding", rounding)
            rng = np.random.default_rng(seed)
            both.append(_outputs(_instance(Op.registry[name].example(rng), rng, "s_")[0], seed))
        differs = differs or both[0] != both[1]
    assert differs == (name in REQUANTISING and name not in HARDLY)


def test_kernels_compiled_for_the_other_rounding_are_refused(tmp_path: Path) -> None:
    """A model's tables fit its own rounding only."""
    rng = np.random.default_rng(0)
    graph, _ = _instance(Op.registry["Mul"].example(rng), rng, "s_")
    model, *_ = generate(graph, Target(Isa.SCALAR), tmp_path)
    command = ["arm-none-eabi-gcc", "-c", model, "-o", tmp_path / "m.o", f"-I{CMSIS_GLUE}/include"]
    assert subprocess.run(command, check=False).returncode == 0
    other = [*command, "-DGLUE_SINGLE_ROUNDING=1"]
    done = subprocess.run(other, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "generated for GLUE_SINGLE_ROUNDING=0" in done.stderr
