"""What must hold of a graph at each stage; entering a room runs the check."""

from enum import StrEnum

from toolchain.errors import InternalError
from toolchain.ir.graph import Graph
from toolchain.ir.op import Op
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
    4. QUANTIZED: every activation is int8 with scale > 0 and a zero point in int8's range, or int16
       with scale > 0 and zero point 0; every operator has the types that it reads and writes; all
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
            _verify_types(graph, op)
    return graph


def _verify_types(graph: Graph, op: Op) -> None:
    found = graph.types[op.x].dtype
    reads, writes = (found, found) if op.is_view else (op.reads, op.writes)
    for name, wanted in (
        *((x, reads) for x in graph.activations(op)),
        *((y, writes) for y in op.outputs),
    ):
        if graph.types[name].dtype is not wanted:
            reason = f"{name} is {graph.types[name].dtype}, not {wanted}"
            raise InternalError("verify", op.name, reason)


def _verify_activation(graph: Graph, name: str) -> None:
    kind = graph.types[name]
    if kind.dtype not in (DType.INT8, DType.INT16) or kind.quant is None:
        raise InternalError("verify", name, "activation is not quantised")
    low, high = kind.dtype.limits if kind.dtype is DType.INT8 else (0, 0)
    if not (kind.quant.scale > 0 and low <= kind.quant.zero_point <= high):
        raise InternalError("verify", name, f"bad quantisation {kind.quant}")
