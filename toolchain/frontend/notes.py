"""What the user should know of a model that converts: values that will not be the model's own."""

from collections.abc import Iterator

import numpy as np
from onnx import ModelProto, helper

from toolchain.ir import DType, Fixed, Graph, Op, Quant, SameAs
from toolchain.ops.wide import twin

SPREAD = 16.0
"""Columns of a table whose ranges differ by more lose bits when they share one scale (R5)."""


def notes_on(model: ModelProto, graph: Graph) -> Iterator[str]:
    """One sentence for each surprise.

    Args:
        model: The model.
        graph: The graph it was read to.
    """
    yield from _restated_scales(graph)
    yield from _scaled_tables(model)


def _restated_scales(graph: Graph) -> Iterator[str]:
    """Operators with one output scale only, where a quantised model states another."""
    for op in graph.ops:
        stated = _stated(graph, op)
        wide = stated is not None and stated.dtype is DType.INT16
        rule = ((twin(op) or op) if wide else op).quant_rule(graph.types)
        if isinstance(rule, Fixed) and rule.strict and stated not in (None, rule.quant):
            yield (
                f"{type(op).__name__} {op.name}: the model states an output scale of "
                f"{_text(stated)}, the kernel has {_text(rule.quant)}; "
                "the values stay, the codes differ from the model's"
            )


def _stated(graph: Graph, op: Op) -> Quant | None:
    """The quantisation stated for an output, also behind reshapes and the like."""
    readers = {x: reader for reader in graph.ops for x in reader.inputs[:1]}
    y = op.y
    while graph.types[y].quant is None and y in readers:
        reader = readers[y]
        if not isinstance(reader.quant_rule(graph.types), SameAs):
            return None
        y = reader.y
    return graph.types[y].quant


def _text(quant: Quant | None) -> str:
    assert quant is not None
    return f"1/{1 / quant.scale:.6g} (zero point {quant.zero_point})"


def _scaled_tables(model: ModelProto) -> Iterator[str]:
    """Scaler on an input whose columns are of very different size: the input has one scale."""
    inputs = {info.name for info in model.graph.input}
    for node in model.graph.node:
        if node.op_type != "Scaler" or not inputs & set(node.input[:1]):
            continue
        for attribute in node.attribute:
            factors = np.abs(helper.get_attribute_value(attribute))
            factors = factors[factors > 0] if attribute.name == "scale" else factors[:0]
            if factors.size and factors.max() > SPREAD * factors.min():
                yield (
                    f"input {node.input[0]}: its columns differ in range by a factor of "
                    f"{factors.max() / factors.min():.0f} and share one int8 scale; "
                    f"export without {node.name or 'the Scaler'} and scale them before"
                )
