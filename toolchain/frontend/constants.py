"""Constants of a model: initialisers, Constant nodes, and all that follows from them (R14, R22)."""

from collections.abc import Mapping

import numpy as np
from onnx import GraphProto, NodeProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from toolchain.errors import InputRefused
from toolchain.ir import Array, Unsupported

_NEVER = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli"}
_CARRIERS = {"QuantizeLinear", "DequantizeLinear"}
"""Nodes that carry scales: they must survive, even on constants."""


def initializers(graph: GraphProto) -> dict[str, Array]:
    """The stored constants by name.

    Raises:
        InputRefused: One cannot be decoded, or is stored in sparse form.
    """
    if graph.sparse_initializer:
        name = graph.sparse_initializer[0].values.name
        raise InputRefused("read", name, "sparse initialisers are not supported", "export it dense")
    values = {}
    for tensor in graph.initializer:
        try:
            values[tensor.name] = numpy_helper.to_array(tensor)
        except Exception as error:  # wrong sizes and types end in exceptions of many kinds
            raise InputRefused(
                "read",
                tensor.name,
                f"this initialiser is damaged: {error}",
                "export the model again",
            ) from error
    return values


def fold(
    node: NodeProto, known: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]], opset: int
) -> list[Array] | None:
    """Values of a node's outputs when they follow from constants or static shapes, else None.

    Args:
        node: The node.
        known: Constants so far.
        shapes: Static shapes of the activations so far.
        opset: Version of ONNX's own operators.

    Raises:
        Unsupported: The node is constant but onnx cannot compute it.
    """
    if node.domain not in ("", "ai.onnx") or node.op_type in _NEVER | _CARRIERS:
        return None
    if node.op_type == "Shape" and node.input[0] in shapes:
        return [_shape(node, shapes[node.input[0]])]
    if node.op_type == "Size" and node.input[0] in shapes:
        return [np.array(np.prod(shapes[node.input[0]]), np.int64)]
    if any(x and x not in known for x in node.input):
        return None
    if any(a.type in (a.GRAPH, a.GRAPHS) for a in node.attribute):
        return None
    single = helper.make_model(
        helper.make_graph(
            [node],
            "constant",
            [helper.make_empty_tensor_value_info(x) for x in dict.fromkeys(node.input) if x],
            [helper.make_empty_tensor_value_info(y) for y in node.output if y],
        ),
        opset_imports=[helper.make_opsetid("", opset)],
    )
    try:
        outputs = ReferenceEvaluator(single).run(None, {x: known[x] for x in node.input if x})
    except Exception as error:
        raise Unsupported(f"its constant value cannot be computed: {error}") from error
    return [np.asarray(y) for y in outputs]


def _shape(node: NodeProto, shape: tuple[int, ...]) -> Array:
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    window = slice(attributes.get("start", 0), attributes.get("end"))
    return np.array(shape[window], np.int64)
