"""The integer graph as a standard ONNX file with QuantizeLinear and DequantizeLinear (QDQ)."""

from collections.abc import Mapping
from dataclasses import dataclass

import onnx
from onnx import ModelProto, TensorProto, helper

from toolchain.errors import InputRefused
from toolchain.ir import ROUNDING_KEY, Graph, Unsupported
from toolchain.ir.writer import FIRST_WITH_INT16, Writer, Written

_IR_VERSION, _IR_VERSION_OF_INT16 = 8, 10


@dataclass(frozen=True, slots=True)
class Exported:
    """The file, and where in it the codes of every computed tensor are.

    Args:
        model: The model: float inputs and outputs of the graph's names.
        written: By tensor of the graph, its codes in the model.
    """

    model: ModelProto
    written: Mapping[str, Written]


def qdq_model(graph: Graph, producer_version: str = "") -> Exported:
    """Write an integer graph as a QDQ model.

    Every activation is rounded by QuantizeLinear where the firmware rounds it, weights are int8 per
    channel, biases int32 at the scale of the products, or float32 where the firmware has 64 bits.
    Inputs and outputs are float32.

    Args:
        graph: Integer graph.
        producer_version: Version of the tool, stored in the file.

    Raises:
        InputRefused: An operator has no form in ONNX; all such are named.
    """
    writer = Writer(graph)
    for x in graph.inputs:
        writer.finish(x, x)
    problems: list[tuple[str, Unsupported]] = []
    for op in graph.ops:
        try:
            op.write(writer)
        except Unsupported as problem:
            problems.append((op.name, problem))
            for y in op.outputs:
                writer.keep(y, writer.fresh(y))
    if problems:
        raise InputRefused(
            "export",
            ", ".join(name for name, _ in problems),
            "; ".join(dict.fromkeys(problem.reason for _, problem in problems)),
            "the integer graph itself is in the project: model/graph.json",
        )
    for y in graph.outputs:
        writer.dequantized(writer.codes(y), graph.types[y], y)
    made = helper.make_graph(
        writer.nodes,
        graph.name,
        [_port(graph, x) for x in graph.inputs],
        [_port(graph, y) for y in graph.outputs],
        writer.constants,
    )
    model = helper.make_model(
        made,
        producer_name="onnx2mcu",
        producer_version=producer_version,
        opset_imports=[helper.make_opsetid("", writer.opset)],
        ir_version=_IR_VERSION if writer.opset < FIRST_WITH_INT16 else _IR_VERSION_OF_INT16,
    )
    helper.set_model_props(model, {ROUNDING_KEY: graph.rounding.value})
    onnx.checker.check_model(model)
    return Exported(model, dict(writer.written))


def _port(graph: Graph, name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, graph.types[name].shape)
