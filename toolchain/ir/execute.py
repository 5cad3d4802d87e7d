"""Run a graph in numpy: the float graph, or the integer model that the firmware must equal."""

from collections.abc import Mapping

from toolchain.ir.graph import Graph
from toolchain.ir.op import Array


def evaluate(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Every tensor's float value for one sample.

    Args:
        graph: Float graph.
        inputs: float32 arrays of the inputs' shapes.
    """
    values: dict[str, Array] = {**graph.constants, **inputs}
    for op in graph.ops:
        values.update(zip(op.outputs, op.evaluate(*(values[x] for x in op.inputs)), strict=True))
    return values


def simulate(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Every tensor's codes for one sample: the integer model, bit by bit.

    Args:
        graph: Quantised graph.
        inputs: int8 arrays of the inputs' shapes.
    """
    values: dict[str, Array] = {**graph.constants, **inputs}
    for op in graph.ops:
        codes = op.simulate(graph.types, *(values[x] for x in op.inputs))
        values.update(zip(op.outputs, codes, strict=True))
    return values
