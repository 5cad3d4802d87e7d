"""Pad, Clip and Relu on codes, in QDQ form: what they fill in or compare with is a code (R13)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper, numpy_helper

from toolchain.frontend.constants import initializers

_MOVES = {
    "Concat", "Expand", "Flatten", "Gather", "Identity", "MaxPool", "Pad", "Clip", "Relu",
    "Reshape", "Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze",
}  # fmt: skip
"""Operators that may run on codes: the output has the scale of input 0."""

_PLACES = {"Pad": (2,), "Clip": (1, 2), "Relu": (1,)}
"""Inputs that hold codes; Relu becomes a Clip."""

Parameters = tuple[str, str]
"""Names of a scale and a zero point; the latter may be ""."""


def real_constants(model: ModelProto) -> ModelProto:
    """The model with Pad, Clip and Relu on codes as DequantizeLinear, operator, QuantizeLinear.

    A missing pad value is code 0, and Relu compares with code 0: neither is a real zero unless the
    zero point is 0. Models without such nodes come back as they are.
    """
    known = _parameters(model)
    constants = initializers(model.graph)
    nodes: list[NodeProto] = []
    added = []
    for node in model.graph.node:
        parameters = known.get(node.input[0]) if node.input and node.output else None
        if node.op_type not in _PLACES or parameters is None:
            nodes.append(node)
            continue
        rewritten, values = _in_reals(node, parameters, constants)
        nodes += rewritten
        added += [numpy_helper.from_array(v, name) for name, v in values.items()]
    if len(nodes) == len(model.graph.node):
        return model
    changed = ModelProto()
    changed.CopyFrom(model)
    del changed.graph.node[:]
    changed.graph.node.extend(nodes)
    changed.graph.initializer.extend(added)
    return changed


def _parameters(model: ModelProto) -> dict[str, Parameters]:
    """Scale and zero point of every tensor of codes that somebody states them for."""
    known: dict[str, Parameters] = {}
    for node in model.graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            if len(node.input) < 2 or not node.output:
                continue
            codes = (node.output if node.op_type == "QuantizeLinear" else node.input)[0]
            known.setdefault(codes, (node.input[1], node.input[2] if len(node.input) > 2 else ""))
    for backwards in (False, True, False):
        for node in reversed(model.graph.node) if backwards else model.graph.node:
            if node.op_type not in _MOVES or not node.input or not node.output:
                continue
            source, target = node.input[0], node.output[0]
            if backwards:
                source, target = target, source
            if source in known:
                known.setdefault(target, known[source])
    return known


def _in_reals(
    node: NodeProto, parameters: Parameters, constants: dict[str, NDArray[Any]]
) -> tuple[list[NodeProto], dict[str, NDArray[Any]]]:
    """The three nodes, and the new constants by name."""
    scale, zero = (constants.get(name) for name in parameters)
    if scale is None or scale.size != 1 or (parameters[1] and zero is None):
        return [node], {}
    x, y = node.input[0], node.output[0]
    inputs = [f"{y}.real", *node.input[1:]]
    offset = 0 if zero is None else int(zero.reshape(()))
    values: dict[str, NDArray[Any]] = {}
    for index in _PLACES[node.op_type]:
        inputs += [""] * (index + 1 - len(inputs))
        code = constants.get(inputs[index])
        if code is None and node.op_type == "Clip":
            continue
        real = ((0 if code is None else int(code.reshape(()))) - offset) * float(scale.reshape(()))
        inputs[index] = f"{y}.bound{index}"
        values[inputs[index]] = np.array(real, np.float32)
    op_type = "Clip" if node.op_type == "Relu" else node.op_type
    made = helper.make_node(op_type, inputs, [f"{y}.unrounded"], name=node.name)
    made.attribute.extend(node.attribute)
    given = [name for name in parameters if name]
    return [
        helper.make_node("DequantizeLinear", [x, *given], [f"{y}.real"]),
        made,
        helper.make_node("QuantizeLinear", [f"{y}.unrounded", *given], [y]),
    ], values
