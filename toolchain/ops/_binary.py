"""What Add, Sub and Mul share: which form a node takes, and constant operands."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Constants,
    DType,
    Lowered,
    Node,
    Op,
    TensorType,
    Types,
    Unsupported,
)
from toolchain.ir.fixedpoint import quant_from_range, quantize
from toolchain.ops.depthwise import emit_affine
from toolchain.ops.reshape import Reshape
from toolchain.ops.unary import emit_unary

Affine = Callable[[Array], tuple[Array, Array]]
"""A constant operand as (gain, bias) of a per-channel affine function."""


def import_binary(
    node: Node, b: Builder, op: type[Op], function: str, affine: dict[int, Affine]
) -> None:
    """Convert an element-wise node of two operands.

    1. One operand a constant scalar: a unary function (one table).
    2. One operand a constant along a single axis: a per-channel affine function.
    3. Otherwise both operands are tensors of one shape; a constant is expanded to it.
    A tensor of fewer dimensions than the other operand first gets leading ones.

    Args:
        node: The node.
        b: Graph under construction.
        op: Operator of case 3.
        function: Name of the scalar function, for case 1.
        affine: For case 2, the affine form by the index of the constant operand.
    """
    values = [b.value(node.input(i)) for i in (0, 1)]
    if values[0] is not None and values[1] is not None:
        raise Unsupported("both operands are constants that could not be folded")
    node = _of_one_rank(node, b)
    for index, value in enumerate(values):
        if value is None:
            continue
        x = node.input(1 - index)
        if value.size == 1:
            number = ("const", float(value.reshape(())))
            pair = (number, ("x",)) if index == 0 else (("x",), number)
            emit_unary(node, b, x, (function, *pair))
            return
        axis = _only_axis(value, b.shape(x))
        if axis is not None and index in affine:
            flat = value.reshape(-1)
            gain, bias = affine[index](flat)
            pin = b.pin(node.input(index), 0) if bias is flat else None
            emit_affine(node, b, x, node.outputs[0], axis, gain, bias, pin)
            return
    _emit_tensors(node, b, op)


def _of_one_rank(node: Node, b: Builder) -> Node:
    """The node with views of its tensors that have as many dimensions as the result."""
    rank = max(len(b.shape(node.input(i))) for i in (0, 1))
    inputs = []
    for name in node.inputs[:2]:
        shape = b.shape(name)
        if b.value(name) is None and len(shape) < rank:
            view = (1,) * (rank - len(shape)) + shape
            known = b.origins.get(name)
            name = b.emit(Reshape(node.name, (name,), (b.fresh(f"{name}.ranked"),), view), known)
        inputs.append(name)
    return replace(node, inputs=tuple(inputs))


def _only_axis(value: Array, shape: tuple[int, ...]) -> int | None:
    """The axis of `shape` a constant runs along when it broadcasts over all others."""
    aligned = (1,) * (len(shape) - value.ndim) + value.shape
    axes = [i for i, n in enumerate(aligned) if n != 1]
    if len(aligned) != len(shape) or len(axes) != 1 or aligned[axes[0]] != shape[axes[0]]:
        return None
    return axes[0]


def _emit_tensors(node: Node, b: Builder, op: type[Op]) -> None:
    shapes = [b.shape(node.input(i)) for i in (0, 1)]
    shape = np.broadcast_shapes(*shapes)
    names = []
    for index in (0, 1):
        name, value = node.input(index), b.value(node.input(index))
        if value is not None:
            name = b.constant(name, np.broadcast_to(value, shape))
        elif shapes[index] != shape:
            raise Unsupported(
                f"operands {shapes[0]} and {shapes[1]} that broadcast",
                "both operands must have one shape, or one must be a constant",
            )
        names.append(name)
    b.emit(op(node.name, tuple(names), (node.outputs[0],)))


def lower_operands(op: Op, types: Types, constants: Constants) -> Lowered:
    """int8 codes for the constant operands of an element-wise operator."""
    added: dict[str, tuple[Array, TensorType]] = {}
    names = {}
    for index, x in enumerate(op.inputs):
        if x not in constants:
            continue
        value = constants[x]
        quant = quant_from_range(float(value.min()), float(value.max()))
        names[x] = f"{op.y}.operand{index}"
        kind = replace(types[x], dtype=DType.INT8, quant=quant)
        added[names[x]] = (quantize(value, quant), kind)
    return Lowered(op.renamed(names), added)
