"""Random layers for the MVE kernels, run in the emulator with the assembly and with the C forms."""

from collections.abc import Iterable
from pathlib import Path

from tests.fast.oracle import Maker, instances
from tests.firmware.test_operators import _compare
from toolchain.board import Isa
from toolchain.ir import Site, Target
from toolchain.select import Choice

BOARD = "mps3-an547"
TARGET = Target(Isa.MVE)


def run_layers(layer: Maker, seeds: Iterable[int], folder: Path) -> list[tuple[Site, Choice]]:
    """Compare random layers with their oracles, canaries after every buffer.

    Args:
        layer: Makes one layer.
        seeds: One layer each.
        folder: Where the firmware is built.

    Returns:
        Every layer and the kernel it took.
    """
    graphs, floats = instances(layer, seeds)
    choices = _compare(graphs, floats, BOARD, folder)
    return [
        (Site(op, graph.types, graph.constants, TARGET), choices[op.y])
        for graph in graphs
        for op in graph.ops
    ]
