"""Expressions of Unary as ONNX nodes, and whether float32 gives the codes of the table."""

from typing import Any

import numpy as np

from toolchain.ir import Array, Quant, Writer
from toolchain.ops._functions import FUNCTIONS

Expression = tuple[Any, ...]
Limits = tuple[int, int]

_ONE_APART = 1.45
"""Steps from a code below which real values round to it or its neighbour, whoever computes them."""

_NODES = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "max": "Max", "min": "Min",
    "pow": "Pow", "sigmoid": "Sigmoid", "tanh": "Tanh", "erf": "Erf", "softplus": "Softplus",
    "softsign": "Softsign", "abs": "Abs", "neg": "Neg", "sign": "Sign", "floor": "Floor",
    "ceil": "Ceil", "round": "Round", "exp": "Exp", "log": "Log", "sqrt": "Sqrt",
    "reciprocal": "Reciprocal", "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin",
    "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "asinh": "Asinh",
    "acosh": "Acosh", "atanh": "Atanh",
}  # fmt: skip
_ATTRIBUTES = {
    "leaky_relu": ("LeakyRelu", ("alpha",)),
    "elu": ("Elu", ("alpha",)),
    "celu": ("Celu", ("alpha",)),
    "threshold": ("ThresholdedRelu", ("alpha",)),
    "shrink": ("Shrink", ("lambd", "bias")),
}
"""Functions whose further arguments are attributes in ONNX."""


def _mod(x: Array, y: Array) -> Array:
    """The remainder of the divisor's sign, as it is written for ONNX."""
    return np.asarray(x - np.floor(x / y) * y)


_AS_WRITTEN = {**FUNCTIONS, "mod": _mod}


def _value(expression: Expression, x: Array) -> Array:
    """The nodes of an expression, computed in the type of x."""
    head, *operands = expression
    if head == "x":
        return x
    if head == "const":
        return np.asarray(operands[0], x.dtype)
    with np.errstate(all="ignore"):
        return np.asarray(_AS_WRITTEN[head](*(_value(o, x) for o in operands)), x.dtype)


def domain(
    expression: Expression, x: Quant, limits: Limits
) -> tuple[float | None, float | None] | None:
    """Bounds between which the function is defined at every code; an open end is None.

    The table continues the function beyond as at the nearest code where it is defined, which is
    what clipping to the bounds does.

    Args:
        expression: The function.
        x: Input parameters.
        limits: The least and the largest code.

    Returns:
        The bounds; None when the codes where it is defined do not lie next to each other.
    """
    real = (_every(limits) - x.zero_point) * np.float64(x.scale)
    values = np.broadcast_to(_value(expression, real), real.shape)
    defined = np.flatnonzero(~np.isnan(values))
    if not defined.size or defined[-1] - defined[0] + 1 != defined.size:
        return None
    low, high = (float(real[i]) for i in (defined[0], defined[-1]))
    return (low if defined[0] else None), (high if defined[-1] != len(real) - 1 else None)


def in_float32(
    expression: Expression,
    parameters: tuple[Quant, Quant],
    limits: Limits,
    codes: Array,
    bounds: tuple[float | None, float | None],
) -> bool:
    """Whether the function in float32, rounded, is within one code of the integers everywhere.

    Args:
        expression: The function.
        parameters: Of input and output.
        limits: The least and the largest code of both.
        codes: What the firmware gives for every input code, from the least on.
        bounds: What the input is clipped to.
    """
    x, y = parameters
    real = _every(limits).astype(np.float32) - np.float32(x.zero_point)
    real = np.clip(real * np.float32(x.scale), *bounds)
    values = np.broadcast_to(_value(expression, real), real.shape)
    least, most = limits
    with np.errstate(over="ignore"):
        scaled = np.clip(values / np.float32(y.scale), 2 * least, 2 * most) + y.zero_point
    distance = np.abs(np.clip(scaled, least, most) - codes.astype(np.float64))
    return bool(np.all(distance < _ONE_APART))  # NaN is wrong as well


def _every(limits: Limits) -> Array:
    """All codes."""
    return np.arange(limits[0], limits[1] + 1)


def write_expression(w: Writer, expression: Expression, x: str, base: str, name: str) -> str:
    """Write a function of the real values `x`; returns the result.

    Args:
        w: File under construction.
        expression: The function.
        x: Its argument.
        base: Tensor of the graph that it computes.
        name: Name of the last node.
    """
    head, *operands = expression
    if head == "x":
        return x
    if head == "const":  # of the shape of x
        zero = w.node("Mul", [x, w.scalar(0.0)], base)
        return w.node("Add", [zero, w.scalar(operands[0])], base, name)

    def operand(of: Expression) -> str:
        if of[0] == "const":
            return w.scalar(of[1])
        return write_expression(w, of, x, base, f"{name}/{of[0]}")

    if head in ("max", "min") and operands[1][0] == "const":
        bounds = {head: float(operands[1][1])}
        inner = operands[0]
        if head == "min" and inner[0] == "max" and inner[2][0] == "const":
            bounds["max"], inner = float(inner[2][1]), inner[1]
        real = write_expression(w, inner, x, base, f"{name}/{head}")
        return w.clipped(real, bounds.get("max"), bounds.get("min"), base)
    first = operand(operands[0])
    if head in _ATTRIBUTES:
        op_type, names = _ATTRIBUTES[head]
        values = {n: float(of[1]) for n, of in zip(names, operands[1:], strict=True)}
        return w.node(op_type, [first], base, name, **values)
    if head == "fmod":
        return w.node("Mod", [first, operand(operands[1])], base, name, fmod=1)
    if head == "mod":  # of the divisor's sign, as x - floor(x / y) y
        divisor = operand(operands[1])
        whole = w.node("Floor", [w.node("Div", [first, divisor], base)], base)
        return w.node("Sub", [first, w.node("Mul", [whole, divisor], base)], base, name)
    return w.node(_NODES[head], [first, *(operand(o) for o in operands[1:])], base, name)
