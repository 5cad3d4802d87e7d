"""Gemm and MatMul: a fully connected layer when one matrix is constant, else a product."""

from dataclasses import replace

import numpy as np

from toolchain.ir import Array, Builder, Node, Origin, Quant, Unsupported, imports
from toolchain.ops.fully_connected import FullyConnected, emit_dense
from toolchain.ops.matmul import MatMul
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose


@imports("Gemm")
def import_gemm(node: Node, b: Builder) -> None:
    """alpha * A @ B + beta * C with either matrix transposed; C is constant, one value a column."""
    if any(len(b.shape(node.input(i))) != 2 for i in (0, 1)):
        raise Unsupported("Gemm of tensors that are not matrices", "use MatMul")
    alpha = float(node.attribute("alpha", 1.0))
    turned = bool(node.attribute("transA", 0)), bool(node.attribute("transB", 0))
    weights = b.value(node.input(1))
    if weights is None:
        _gemm_of_activations(node, b, alpha, turned)
        return
    weights = weights if turned[1] else weights.T
    x, y = b.activation(node.input(0)), node.outputs[0]
    pin = b.pin(node.input(1), FullyConnected.channel_axis) if alpha == 1 else None
    emit_dense(
        node,
        b,
        _turned(node, b, x) if turned[0] else x,
        (y, Origin(y)),
        weights * np.float32(alpha),
        *_bias(node, b, len(weights), pin),
    )


def _gemm_of_activations(node: Node, b: Builder, alpha: float, turned: tuple[bool, bool]) -> None:
    if alpha <= 0:
        raise Unsupported(f"Gemm of two activations with alpha = {alpha}", "use a positive alpha")
    y = node.outputs[0]
    names = [_operand(node, b, i, b.shape(node.input(i))) for i in (0, 1)]
    bias, (_, pin) = _bias(node, b, b.shape(names[1])[0 if turned[1] else 1], None)
    if np.any(bias):
        names.append(b.constant(f"{y}.bias", bias, pin))
    a_perm, b_perm = ((1, 0) if t else () for t in turned)
    b.emit(MatMul(node.name, tuple(names), (y,), a_perm, b_perm, alpha))


def _bias(
    node: Node, b: Builder, columns: int, weights: Quant | None
) -> tuple[Array, tuple[Quant | None, Quant | None]]:
    """beta * C, one value a column, and the quantisation of the weights and of C."""
    bias = np.zeros(columns, np.float32)
    if not node.input(2):
        return bias, (weights, None)
    beta = np.float32(node.attribute("beta", 1.0))
    c = b.required(node, 2, "the bias C") * beta
    if c.size != 1 and (c.shape[-1] != c.size or c.size != columns):
        raise Unsupported(
            f"a bias C of shape {c.shape}", "one value per column is supported; else use Add"
        )
    return bias + c.reshape(-1), (weights, b.pin(node.input(2), 0) if beta == 1 else None)


@imports("MatMul")
def import_matmul(node: Node, b: Builder) -> None:
    """Activations or a constant on either side, any rank, batch axes that broadcast."""
    left, right = (b.value(node.input(i)) for i in (0, 1))
    if any(len(b.shape(node.input(i))) == 0 for i in (0, 1)):
        raise Unsupported("MatMul of a scalar", "use Mul")
    if right is not None and left is None and _one_matrix(right):
        _constant_right(node, b, right)
    elif left is not None and right is None and _one_matrix(left):
        _constant_left(node, b, left)
    elif left is not None and right is not None:
        raise Unsupported("both operands are constants that could not be folded")
    else:
        _product(node, b)


def _one_matrix(value: Array) -> bool:
    return value.ndim <= 2 or value[..., 0, 0].size == 1


def _constant_right(node: Node, b: Builder, matrix: Array) -> None:
    x, y = b.activation(node.input(0)), node.outputs[0]
    shape = b.shape(x)
    columns = () if matrix.ndim == 1 else (matrix.shape[-1],)
    lead = (1,) * (matrix.ndim - max(len(shape), 2)) if matrix.ndim > 2 else ()
    weights = matrix.reshape(matrix.shape[0] if matrix.ndim == 1 else matrix.shape[-2], -1).T
    pins = b.pin(node.input(1), FullyConnected.channel_axis), None
    result = (*lead, *shape[:-1], *columns)
    if columns and not lead:
        emit_dense(node, b, x, (y, Origin(y)), weights, pins=pins)
        return
    out = emit_dense(node, b, x, (b.fresh(f"{y}.dense"), Origin(y)), weights, pins=pins)
    b.emit(Reshape(node.name, (out,), (y,), result))


def _constant_left(node: Node, b: Builder, matrix: Array) -> None:
    """A @ x = transpose(transpose(x) @ transpose(A)), over the last two axes."""
    x, y = b.activation(node.input(1)), node.outputs[0]
    rank = len(b.shape(x))
    pins = b.pin(node.input(0), FullyConnected.channel_axis), None
    if rank == 1 and matrix.ndim == 2:
        emit_dense(node, b, x, (y, Origin(y)), matrix, pins=pins)
        return
    if matrix.ndim != 2 or rank == 1:
        _product(node, b)
        return
    perm = (*range(rank - 2), rank - 1, rank - 2)
    turned = _turned(node, b, x)
    name = b.fresh(f"{y}.turned")
    out = emit_dense(node, b, turned, (name, Origin(y, perm)), matrix, pins=pins)
    b.emit(Transpose(node.name, (out,), (y,), perm))


def _turned(node: Node, b: Builder, x: str) -> str:
    """x with its last two axes swapped."""
    rank = len(b.shape(x))
    perm = (*range(rank - 2), rank - 1, rank - 2)
    known = b.origins.get(x) == Origin(x)
    return b.emit(
        Transpose(node.name, (x,), (b.fresh(f"{x}.turned"),), perm),
        Origin(x, perm) if known else None,
    )


def _operand(node: Node, b: Builder, index: int, view: tuple[int, ...]) -> str:
    """An operand of a MatMul operator under another shape."""
    name, value = node.input(index), b.value(node.input(index))
    if value is not None:
        pin = b.pin(name)
        whole = pin if pin is not None and pin.axis is None else None
        return b.constant(name, value.reshape(view), whole)
    x, origin = b.activation(name), b.origins.get(name)
    if view == b.shape(x):
        return x
    return b.emit(Reshape(node.name, (x,), (b.fresh(f"{x}.matrix"),), view), origin)


def _product(node: Node, b: Builder) -> None:
    """A MatMul operator; vectors become matrices and back."""
    y = node.outputs[0]
    first, second = (b.shape(node.input(i)) for i in (0, 1))
    rows = first if len(first) > 1 else (1, *first)
    columns = second if len(second) > 1 else (*second, 1)
    names = _operand(node, b, 0, rows), _operand(node, b, 1, columns)
    op = MatMul(node.name, names, (y,))
    (shape,) = op.infer(b.types)
    wanted = (*shape[:-2], *(shape[-2:-1] if len(first) > 1 else ()))
    wanted = (*wanted, *(shape[-1:] if len(second) > 1 else ()))
    if wanted == shape:
        b.emit(op)
        return
    out = b.emit(replace(op, outputs=(b.fresh(f"{y}.matrix"),)), Origin(y))
    b.emit(Reshape(node.name, (out,), (y,), wanted))
