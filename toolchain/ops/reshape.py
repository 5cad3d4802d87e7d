"""Reshape: the same bytes under another shape. A view; costs nothing at run time."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from onnx import TensorProto

from toolchain.ir import (
    INDICES,
    Array,
    Builder,
    Example,
    Fixed,
    Node,
    Op,
    SameAs,
    Types,
    Unsupported,
    Writer,
    imports,
    register,
)
from toolchain.ops._axes import axes_of, axis_of

_REALS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)


@register
@dataclass(frozen=True, slots=True)
class Reshape(Op):
    """Input x, output y of `shape`; also Flatten, Squeeze, Unsqueeze, Identity and Dropout."""

    is_view: ClassVar[bool] = True

    shape: tuple[int, ...]

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """The declared shape."""
        if prod(self.shape) != types[self.x].elements:
            raise ValueError(f"{types[self.x].shape} does not reshape to {self.shape}")
        return (self.shape,)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The same values."""
        return (values[0].reshape(self.shape),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:  # noqa: ARG002
        """The same codes."""
        return (codes[0].reshape(self.shape),)

    def quant_rule(self, _types: Types) -> SameAs:
        """As the input."""
        return SameAs()

    def write(self, w: Writer) -> None:
        """Reshape, where more than dimensions of size 1 change."""
        w.reshaped(self.y, self.x)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Flatten a small map."""
        shape = (1, *(int(n) for n in rng.integers(1, 6, 3)))
        return Example(cls("reshape", ("x",), ("y",), (1, prod(shape))), {"x": shape})


def _emit(node: Node, b: Builder, shape: tuple[int, ...]) -> None:
    x = b.activation(node.input(0))
    if prod(shape) != prod(b.shape(x)) or min(shape, default=1) < 1:
        raise Unsupported(f"shape {b.shape(x)} cannot become {shape}")
    b.emit(Reshape(node.name, (x,), (node.outputs[0],), shape))


@imports("Reshape")
def import_reshape(node: Node, b: Builder) -> None:
    """Target with 0 (copy) and -1 (infer); opset 1-4 had it as an attribute."""
    old = b.shape(node.input(0))
    target = node.attribute("shape")
    if target is None:
        target = b.required(node, 1, "the target shape")
    wanted = [int(n) for n in target]
    if not node.attribute("allowzero", 0):
        wanted = [old[i] if n == 0 else n for i, n in enumerate(wanted)]
    if -1 in wanted:
        rest = prod(n for n in wanted if n != -1)
        wanted = [prod(old) // max(rest, 1) if n == -1 else n for n in wanted]
    elif prod(wanted) != prod(old) and wanted and prod(wanted[1:]) == prod(old):
        wanted[0] = 1  # a batch size written into the model
    _emit(node, b, tuple(wanted))


@imports("Flatten")
def import_flatten(node: Node, b: Builder) -> None:
    """[d0..d(axis-1), d(axis)..] as two dimensions."""
    shape = b.shape(node.input(0))
    axis = node.attribute("axis", 1)
    axis = len(shape) if axis == len(shape) else axis_of(axis, len(shape))
    _emit(node, b, (prod(shape[:axis]), prod(shape[axis:])))


def _axes(node: Node, b: Builder) -> list[int] | None:
    """The axes of Squeeze and Unsqueeze: an attribute until opset 12, then input 1."""
    axes = node.attribute("axes")
    if axes is None and node.input(1):
        axes = b.required(node, 1, "the list of axes")
    return None if axes is None else [int(a) for a in np.ravel(axes)]


@imports("Squeeze")
def import_squeeze(node: Node, b: Builder) -> None:
    """Drop dimensions of size 1."""
    shape = b.shape(node.input(0))
    axes = _axes(node, b)
    drop = (
        {i for i, n in enumerate(shape) if n == 1}
        if axes is None
        else set(axes_of(axes, len(shape)))
    )
    if any(shape[a] != 1 for a in drop):
        raise Unsupported(f"squeezes an axis of {shape} whose size is not 1")
    _emit(node, b, tuple(n for i, n in enumerate(shape) if i not in drop))


@imports("Unsqueeze")
def import_unsqueeze(node: Node, b: Builder) -> None:
    """Insert dimensions of size 1."""
    axes = _axes(node, b)
    if axes is None:
        raise Unsupported("it does not say which axes to insert")
    shape = list(b.shape(node.input(0)))
    rank = len(shape) + len(axes)
    for axis in axes_of(axes, rank):
        shape.insert(axis, 1)
    _emit(node, b, tuple(shape))


@imports("Cast")
def import_cast(node: Node, b: Builder) -> None:
    """Between float types, everything being computed in int8 anyway; of indices to integers."""
    to = node.attribute("to")
    indices = to in (TensorProto.INT32, TensorProto.INT64) and _holds_indices(b, node.input(0))
    if to not in _REALS and not indices:
        raise Unsupported("a cast to integers of values computed at run time")
    _emit(node, b, b.shape(node.input(0)))


def _holds_indices(b: Builder, x: str) -> bool:
    """Its codes count from 0 in steps of 1, as ArgMax's."""
    makers = {y: op for op in b.ops for y in op.outputs}
    while x in makers:
        rule = makers[x].quant_rule(b.types)
        if isinstance(rule, Fixed):
            return rule.quant == INDICES
        if not isinstance(rule, SameAs):
            return False
        x = makers[x].inputs[rule.index]
    return False


@imports("Identity", "Dropout")
def import_identity(node: Node, b: Builder) -> None:
    """Inference leaves the values alone; Dropout's mask output is not available."""
    if node.input(2) and np.any(b.required(node, 2, "training_mode")):
        raise Unsupported("Dropout in training mode", "export the model in eval mode")
    _emit(node, b, b.shape(node.input(0)))
