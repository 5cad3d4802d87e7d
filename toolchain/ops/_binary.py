"""What Add, Sub, Mul and Div share: which form a node takes, and constant operands."""

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
    Quant,
    TensorType,
    Types,
    Unsupported,
)
from toolchain.ir.fixedpoint import (
    dequantize,
    quant_from_range,
    quantize,
    quantize_as,
    symmetric_from_range,
)
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
    3. Otherwise both operands are tensors that broadcast.
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
    node = of_one_rank(node, b)
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
    emit_tensors(node, b, op)


def of_one_rank(node: Node, b: Builder) -> Node:
    """The node with views of its tensors that have as many dimensions as the result."""
    names = [name for name in node.inputs if name]
    rank = max(len(b.shape(name)) for name in names)
    return replace(node, inputs=tuple(_of_rank(node, b, name, rank) for name in names))


def _of_rank(node: Node, b: Builder, name: str, rank: int) -> str:
    shape = b.shape(name)
    if b.value(name) is not None or len(shape) == rank:
        return name
    view = (1,) * (rank - len(shape)) + shape
    known = b.origins.get(name)
    return b.emit(Reshape(node.name, (name,), (b.fresh(f"{name}.ranked"),), view), known)


def _only_axis(value: Array, shape: tuple[int, ...]) -> int | None:
    """The axis of `shape` a constant runs along when it broadcasts over all others."""
    aligned = (1,) * (len(shape) - value.ndim) + value.shape
    axes = [i for i, n in enumerate(aligned) if n != 1]
    if len(aligned) != len(shape) or len(axes) != 1 or aligned[axes[0]] != shape[axes[0]]:
        return None
    return axes[0]


def emit_tensors(node: Node, b: Builder, op: type[Op]) -> None:
    """Emit an operator on the tensors of the node, constants with leading ones if they need them.

    Args:
        node: The node, its activations of one rank.
        b: Graph under construction.
        op: Operator without attributes of its own.
    """
    rank = max(len(b.shape(name)) for name in node.inputs)
    names = tuple(_operand(b, name, rank) for name in node.inputs)
    b.emit(op(node.name, names, (node.outputs[0],)))


def _operand(b: Builder, name: str, rank: int) -> str:
    value = b.value(name)
    if value is None:
        return name
    pin = b.pin(name)
    single = pin if pin is not None and len(pin.scales) == 1 else None
    return b.constant(name, value.reshape((1,) * (rank - value.ndim) + value.shape), single)


def operand_quant(op: Op, x: str, types: Types, constants: Constants) -> Quant:
    """Parameters of an operand; of a constant those its model states, if its codes fit."""
    if x not in constants:
        return types[x].q
    value, stated = constants[x], types[x].quant
    wide = op.reads is DType.INT16
    if stated is not None and not (wide and stated.zero_point):
        codes = quantize(value, stated, op.reads)
        error = np.abs(dequantize(codes, stated) - value).max(initial=0.0)
        if error <= 0.51 * stated.scale:
            return replace(stated, dtype=op.reads)
    span = float(value.min()), float(value.max())
    return symmetric_from_range(*span) if wide else quant_from_range(*span)


def lower_operands(op: Op, types: Types, constants: Constants) -> Lowered:
    """Codes for the constant operands of an element-wise operator."""
    added: dict[str, tuple[Array, TensorType]] = {}
    names = {}
    for index, x in enumerate(op.inputs):
        if x not in constants:
            continue
        quant = operand_quant(op, x, types, constants)
        names[x] = f"{op.y}.operand{index}"
        kind = replace(types[x], dtype=op.reads, quant=quant)
        added[names[x]] = (quantize_as(constants[x], kind), kind)
    return Lowered(op.renamed(names), added)
