"""Normalisations that exporters wrote out step by step, found again as single nodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper

from toolchain.frontend.constants import initializers
from toolchain.ir import Array

_NEGLIGIBLE = 1e-6
"""A lower bound of a norm up to here is only there against division by zero."""


def recognise_norms(model: ModelProto) -> list[NodeProto]:
    """The nodes of a model with the last step of every normalisation replaced.

    1. (x - mean) / sqrt(mean((x - mean)^2) + epsilon): LayerNormalization or InstanceNormalization
       without scale and bias, as MeanVarianceNormalization with an attribute epsilon.
    2. x / sqrt(mean(x^2) + epsilon): the same with the attribute subtract_mean = 0.
    3. x / max(norm(x), tiny): LpNormalization.
    The steps before it stay; whoever reads the nodes drops what nobody needs any more.
    """
    finder = _Finder(model)
    return [finder.replacement(node) or node for node in model.graph.node]


_MALFORMED = (ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class _Mean:
    """A ReduceMean or ReduceSum: what it reads and over which axes."""

    x: str
    axes: tuple[int, ...]


class _Finder:
    def __init__(self, model: ModelProto) -> None:
        self.makers = {y: node for node in model.graph.node for y in node.output if y}
        self.constants: dict[str, Array] = initializers(model.graph)
        for node in model.graph.node:
            try:
                value = _constant_value(node)
            except _MALFORMED:
                continue  # its importer says what is wrong
            if value is not None:
                self.constants[node.output[0]] = value

    def replacement(self, node: NodeProto) -> NodeProto | None:
        """The single node that computes the same as this one and those before it."""
        try:
            return self._replacement(node)
        except _MALFORMED:  # no normalisation then; the importer of the node says what is wrong
            return None

    def _replacement(self, node: NodeProto) -> NodeProto | None:
        for x, scale, inverse in self._quotients(node):
            found = self._by_deviation(node, x, scale) or (
                None if inverse else self._by_norm(node, x, scale)
            )
            if found is not None:
                return found
        return None

    def _quotients(self, node: NodeProto) -> list[tuple[str, str, bool]]:
        """(dividend, tensor whose root or reciprocal root divides it, the divisor is inverted)."""
        if node.op_type == "Div":
            return [(node.input[0], node.input[1], False)]
        if node.op_type != "Mul":
            return []
        found = []
        for x, factor in ((node.input[0], node.input[1]), (node.input[1], node.input[0])):
            maker = self._maker(factor, "Reciprocal", "Div")
            if maker is None:
                continue
            if maker.op_type == "Reciprocal":
                found.append((x, maker.input[0], True))
            elif self._number(maker.input[0]) == 1:
                found.append((x, maker.input[1], True))
        return found

    # ---- the two forms -----------------------------------------------------------------------
    def _by_deviation(self, node: NodeProto, x: str, divisor: str) -> NodeProto | None:
        """Cases 1 and 2: x over the root of a mean of squares plus epsilon."""
        power = self._rooted(divisor)
        total = self._maker(power, "Add") if power else None
        if total is None:
            return None
        for mean, other in ((total.input[0], total.input[1]), (total.input[1], total.input[0])):
            epsilon = self._number(other)
            squares = self._reduced(mean, "ReduceMean")
            if epsilon is None or epsilon < 0 or squares is None:
                continue
            base = self._squared(squares.x)
            source = self._centred(x, squares.axes)
            if base is None:
                continue
            if source is not None and self._centred(base, squares.axes) == source:
                return self._node(node, source, squares.axes, epsilon, 1)
            if base == x:
                return self._node(node, x, squares.axes, epsilon, 0)
        return None

    def _by_norm(self, node: NodeProto, x: str, divisor: str) -> NodeProto | None:
        """Case 3."""
        norm = self._bounded(divisor)
        reduced = self._reduced(norm, "ReduceL2")
        if reduced is None:
            power = self._rooted(norm)
            squares = self._reduced(power, "ReduceSum") if power else None
            base = self._squared(squares.x) if squares else None
            reduced = _Mean(base, squares.axes) if base and squares else None
        if reduced is None or reduced.x != x or len(reduced.axes) != 1:
            return None
        return helper.make_node(
            "LpNormalization", [x], [node.output[0]], name=node.name, axis=reduced.axes[0], p=2
        )

    def _node(
        self, node: NodeProto, x: str, axes: tuple[int, ...], epsilon: float, mean: int
    ) -> NodeProto:
        return helper.make_node(
            "MeanVarianceNormalization",
            [x],
            [node.output[0]],
            name=node.name,
            axes=axes,
            epsilon=epsilon,
            subtract_mean=mean,
        )

    # ---- single steps ------------------------------------------------------------------------
    def _maker(self, name: str, *op_types: str) -> NodeProto | None:
        node = self.makers.get(name)
        return node if node is not None and node.op_type in op_types else None

    def _number(self, name: str) -> float | None:
        value = self.constants.get(name)
        return float(value.reshape(())) if value is not None and value.size == 1 else None

    def _rooted(self, name: str) -> str | None:
        """v when the tensor is sqrt(v)."""
        node = self._maker(name, "Sqrt", "Pow")
        if node is None or (node.op_type == "Pow" and self._number(node.input[1]) != 0.5):
            return None
        return str(node.input[0])

    def _squared(self, name: str) -> str | None:
        """v when the tensor is v * v."""
        node = self._maker(name, "Pow", "Mul")
        if node is None:
            return None
        if node.op_type == "Pow":
            return str(node.input[0]) if self._number(node.input[1]) == 2 else None
        return str(node.input[0]) if node.input[0] == node.input[1] else None

    def _centred(self, name: str, axes: tuple[int, ...]) -> str | None:
        """x when the tensor is x - mean(x) over the axes."""
        node = self._maker(name, "Sub")
        mean = self._reduced(node.input[1], "ReduceMean") if node is not None else None
        if node is None or mean is None or mean != _Mean(node.input[0], axes):
            return None
        return mean.x

    def _bounded(self, name: str) -> str:
        """v when the tensor is max(v, tiny), or v spread out; else the tensor itself."""
        node = self._maker(name, "Expand", "Clip", "Max")
        if node is None:
            return name
        if node.op_type != "Expand":
            low = _attributes(node).get("min")
            if len(node.input) == 2:
                low = self._number(node.input[1])
            if low is None or not 0 <= float(low) <= _NEGLIGIBLE or len(node.input) > 2:
                return name
        return self._bounded(str(node.input[0]))

    def _reduced(self, name: str, op_type: str) -> _Mean | None:
        """The reduction that makes a tensor, when it keeps its axes with size 1."""
        node = self._maker(name, op_type)
        if node is None:
            return None
        attributes = _attributes(node)
        axes = attributes.get("axes")
        if len(node.input) == 2:
            axes = self.constants.get(node.input[1])
        if axes is None or not attributes.get("keepdims", 1):
            return None
        return _Mean(str(node.input[0]), tuple(int(a) for a in np.ravel(axes)))


def _attributes(node: NodeProto) -> Mapping[str, Any]:
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def _constant_value(node: NodeProto) -> Array | None:
    """What a Constant node holds."""
    if node.op_type != "Constant":
        return None
    for attribute in node.attribute:
        if attribute.name == "value":
            return numpy_helper.to_array(attribute.t)
        if attribute.name.startswith(("value_float", "value_int")):
            return np.asarray(helper.get_attribute_value(attribute))
    return None
