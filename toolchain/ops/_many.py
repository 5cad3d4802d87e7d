"""Operands of operators that take any number of tensors, brought to one shape."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from toolchain.ir import Array, Builder, Node, Unsupported
from toolchain.ops._binary import of_one_rank
from toolchain.ops.take import emit_take


def joined_constants(
    node: Node, b: Builder, join: Callable[[Array, Array], Array]
) -> tuple[list[str], Array | None]:
    """The operands that are computed at run time, and the others joined to one constant.

    Args:
        node: The node.
        b: Graph under construction.
        join: The operator on two constants.
    """
    names = [name for name in node.inputs if name]
    constant: Array | None = None
    for value in (b.value(name) for name in names):
        if value is not None:
            constant = value if constant is None else np.asarray(join(constant, value))
    activations = [name for name in names if b.value(name) is None]
    if not activations:
        raise Unsupported("its operands are constants that could not be folded")
    return activations, constant


def of_one_shape(
    node: Node, b: Builder, activations: list[str], constant: Array | None
) -> tuple[str, ...]:
    """Names of the operands, each with all cells of the result.

    Raises:
        Unsupported: They do not broadcast.
    """
    extra = [] if constant is None else [b.fresh(f"{node.outputs[0]}.constant")]
    if constant is not None:
        b.known[extra[0]] = constant
    node = of_one_rank(replace(node, inputs=(*activations, *extra)), b)
    shapes = [b.shape(name) for name in node.inputs]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise Unsupported(f"operands {shapes} do not broadcast") from error
    return tuple(_expanded(node, b, name, shape) for name in node.inputs)


def _expanded(node: Node, b: Builder, name: str, shape: tuple[int, ...]) -> str:
    value = b.value(name)
    if value is not None:
        return b.constant(name, np.broadcast_to(value, shape))
    own = b.shape(name)
    if own == shape:
        return name
    chosen = {axis: [0] * n for axis, n in enumerate(shape) if own[axis] != n}
    return emit_take(b, node, name, b.fresh(f"{name}.expanded"), chosen, None)
