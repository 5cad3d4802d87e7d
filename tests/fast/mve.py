"""Random layers for the MVE kernels, run in the emulator with the assembly and with the C forms."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.firmware.test_operators import _compare, _instance
from toolchain.board import Isa
from toolchain.ir import Example, Site, Target
from toolchain.select import Choice

BOARD = "mps3-an547"
TARGET = Target(Isa.MVE)

Layer = Callable[[np.random.Generator], Example]


@pytest.fixture(params=["assembly", "C"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which of the twin forms is built."""
    if request.param == "C":
        for flags in ("CFLAGS", "ASMFLAGS"):
            monkeypatch.setenv(flags, "-DGLUE_NO_ASM")
    return str(request.param)


def run_layers(layer: Layer, seeds: Iterable[int], folder: Path) -> list[tuple[Site, Choice]]:
    """Compare random layers with their oracles, canaries after every buffer.

    Args:
        layer: Makes one layer.
        seeds: One layer each.
        folder: Where the firmware is built.

    Returns:
        Every layer and the kernel it took.
    """
    graphs, floats = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph, samples = _instance(layer(rng), rng, f"layer_{seed}_")
        graphs.append(graph)
        floats.append(samples)
    choices = _compare(graphs, floats, BOARD, folder)
    return [
        (Site(op, graph.types, graph.constants, TARGET), choices[op.y])
        for graph in graphs
        for op in graph.ops
    ]
