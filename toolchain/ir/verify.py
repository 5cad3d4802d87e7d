"""What must hold of a graph at each stage; entering a room runs the check."""

from enum import StrEnum

from toolchain.errors import InternalError
from toolchain.ir.graph import Graph
from toolchain.ir.tensor import DType


class Stage(StrEnum):
    """How far a graph has come."""

    FLOAT = "float"
    QUANTIZED = "quantised"


def verify(graph: Graph, stage: Stage = Stage.FLOAT) -> Graph:
    """Return the graph if it is well formed, else raise InternalError naming the node.

    1. Every operand is an input, a constant, or written by an earlier operator.
    2. No tensor is written twice; every graph output is defined.
    3. Every declared shape is what the operator infers.
    4. QUANTIZED: every activation is int8 with scale > 0 and a zero point in int8's range; all
       operators round alike.
    """
    known = {*graph.inputs, *graph.constants}
    for op in graph.ops:
        if missing := set(op.inputs) - known:
            raise InternalError("verify", op.name, f"reads undefined {sorted(missing)}")
        if again := set(op.outputs) & known:
            raise InternalError("verify", op.name, f"writes {sorted(again)} a second time")
        declared = tuple(graph.types[y].shape for y in op.outputs)
        if (inferred := op.infer(graph.types)) != declared:
            raise InternalError(
                "verify", op.name, f"shape {declared} declared, {inferred} inferred"
            )
        known.update(op.outputs)
    if missing := set(graph.outputs) - known:
        raise InternalError("verify", graph.name, f"outputs {sorted(missing)} are not defined")
    if stage is Stage.QUANTIZED:
        for name in (*graph.inputs, *(y for op in graph.ops for y in op.outputs)):
            _verify_activation(graph, name)
        for op in graph.ops:
            if op.rounding is not graph.rounding:
                raise InternalError("verify", op.name, f"it rounds {op.rounding}, others do not")
    return graph


def _verify_activation(graph: Graph, name: str) -> None:
    kind = graph.types[name]
    if kind.dtype is not DType.INT8 or kind.quant is None:
        raise InternalError("verify", name, "activation is not quantised")
    if not (kind.quant.scale > 0 and -128 <= kind.quant.zero_point <= 127):
        raise InternalError("verify", name, f"bad quantisation {kind.quant}")
