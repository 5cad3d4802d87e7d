"""An ONNX node as plain data: what an operator file sees of the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Unsupported(Exception):  # noqa: N818 - a verdict on a node, collected by the frontend
    """This node cannot be converted.

    Args:
        reason: What is not supported.
        hint: What the user can do.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the model.

    Args:
        op_type: Operator, with its domain in front unless it is ONNX's own ("ai.onnx.ml.Scaler").
        name: The node's name, or a made-up one that contains its first output.
        inputs: Tensor names; "" marks an optional input left out.
        outputs: Tensor names; "" marks an unused output.
        attributes: Python values (int, float, str, tuple, numpy array).
        opset: Version of its domain that the model imports.
    """

    op_type: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    opset: int

    def input(self, index: int) -> str:
        """Name of an input; "" when left out or missing (R14)."""
        return self.inputs[index] if index < len(self.inputs) else ""

    def attribute(self, name: str, default: Any = None) -> Any:
        """Value of an attribute."""
        return self.attributes.get(name, default)
