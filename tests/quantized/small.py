"""Small quantised models, and the check of their integer form against ONNX Runtime."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tests.quantized.models import Integer, integers
from toolchain.frontend.codes import real_constants
from toolchain.frontend.qoperator import to_qdq
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array
from toolchain.ir.execute import simulate
from toolchain.ir.fixedpoint import dequantize

FLOAT, INT8, UINT8 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8
MICROSOFT = "com.microsoft"


def node(op_type: str, inputs: str, output: str, domain: str = "", **attributes: Any) -> NodeProto:
    """A node; inputs are separated by spaces, "-" is one left out."""
    given = ["" if x == "-" else x for x in inputs.split()]
    return helper.make_node(
        op_type, given, output.split(), name=f"n_{output}", domain=domain, **attributes
    )


def quantized(x: str, y: str, scale: str, zero: str | None = "zero") -> list[NodeProto]:
    """x -> QuantizeLinear -> DequantizeLinear -> y."""
    names = f"{scale} {zero}" if zero else scale
    return [
        node("QuantizeLinear", f"{x} {names}", f"{y}.codes"),
        node("DequantizeLinear", f"{y}.codes {names}", y),
    ]


def model(
    nodes: Sequence[NodeProto],
    constants: Mapping[str, Any],
    x: Sequence[int] = (1, 3, 6, 6),
    kinds: tuple[int, int] = (FLOAT, FLOAT),
    outputs: str = "y",
    opset: int = 13,
) -> ModelProto:
    """A model of input x and `outputs`; float constants become float32."""
    stored = []
    for name, value in constants.items():
        array = np.asarray(value)
        array = array.astype(np.float32) if array.dtype.kind == "f" else array
        stored.append(numpy_helper.from_array(array, name))
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", kinds[0], list(x))],
        [helper.make_tensor_value_info(y, kinds[1], None) for y in outputs.split()],
        stored,
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def converted(proto: ModelProto, samples: Array | None = None) -> Integer:
    """The integer form, unpruned."""
    return integers(real_constants(to_qdq(proto)), samples, pruned=False)


def largest_error(proto: ModelProto, seed: int = 0, samples: Array | None = None) -> float:
    """Largest difference to ONNX Runtime on the model as it is, in steps of the output's scale."""
    made, session = converted(proto, samples), FloatSession(proto)
    graph, rng = made.graph, np.random.default_rng(seed)
    (x,) = graph.inputs
    worst = 0.0
    for _ in range(10):
        codes = rng.integers(-128, 128, graph.types[x].shape).astype(np.int8)
        kind = session.input_type(x)
        fed: Array = dequantize(codes, graph.types[x].q)
        if kind != "float32":
            fed = (codes.astype(np.int16) + (128 if kind == "uint8" else 0)).astype(kind)
        reference, own = session.run({x: fed}), simulate(graph, {x: codes})
        for y in graph.outputs:
            quant, value = graph.types[y].q, reference[y]
            if value.dtype != np.float32:
                offset = 128 if value.dtype == np.uint8 else 0
                value = dequantize(value.astype(np.int16) - offset, quant)
            off = np.abs(value - dequantize(own[y], quant)) / quant.scale
            worst = max(worst, float(off.max()))
    return worst
