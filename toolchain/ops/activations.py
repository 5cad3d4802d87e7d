"""Importers of activation functions; each is one table."""

from math import pi, sqrt

from toolchain.ir import Builder, Node, Unsupported, imports
from toolchain.ops.unary import Expression, clip_expression, emit_unary

X: Expression = ("x",)


def number(value: float) -> Expression:
    """A constant of an expression."""
    return ("const", float(value))


def times(factor: float, expression: Expression) -> Expression:
    """A multiple of an expression."""
    return ("mul", expression, number(factor))


def plus(expression: Expression, addend: float) -> Expression:
    """An expression and a constant."""
    return ("add", expression, number(addend))


def _emit(node: Node, b: Builder, expression: Expression) -> None:
    emit_unary(node, b, node.input(0), expression)


@imports("Relu")
def import_relu(node: Node, b: Builder) -> None:
    """max(x, 0); fused into the operator before it where that is legal (R4)."""
    _emit(node, b, clip_expression(0.0, None))


@imports("Clip")
def import_clip(node: Node, b: Builder) -> None:
    """Bounds are attributes until opset 10, optional constant inputs since (R16)."""
    bounds: list[float | None] = []
    for index, name in enumerate(("min", "max"), start=1):
        bound = node.attribute(name)
        if node.input(index):
            bound = b.required(node, index, f"the bound {name}").reshape(())
        open_ended = bound is None or abs(float(bound)) > 1e38
        bounds.append(None if open_ended else float(bound))
    low, high = bounds
    if low is not None and high is not None:
        low = min(low, high)  # the upper bound wins
    _emit(node, b, clip_expression(low, high))


@imports("Sigmoid", "Tanh", "Erf", "Softplus", "Softsign")
def import_function(node: Node, b: Builder) -> None:
    """The function of every element, as one table of 256 codes."""
    _emit(node, b, (node.op_type.lower(), X))


@imports("LeakyRelu")
def import_leaky_relu(node: Node, b: Builder) -> None:
    """x, times alpha where it is negative, as one table."""
    _emit(node, b, ("leaky_relu", X, number(node.attribute("alpha", 0.01))))


@imports("Elu")
def import_elu(node: Node, b: Builder) -> None:
    """x, or alpha * (exp(x) - 1) where x is negative, as one table."""
    _emit(node, b, ("elu", X, number(node.attribute("alpha", 1.0))))


@imports("Selu")
def import_selu(node: Node, b: Builder) -> None:
    """gamma times Elu, as one table."""
    alpha = node.attribute("alpha", 1.67326319217681884765625)
    gamma = node.attribute("gamma", 1.05070102214813232421875)
    _emit(node, b, times(gamma, ("elu", X, number(alpha))))


@imports("Celu")
def import_celu(node: Node, b: Builder) -> None:
    """x, or alpha * (exp(x / alpha) - 1) where x is negative, as one table."""
    alpha = node.attribute("alpha", 1.0)
    if alpha == 0:
        raise Unsupported("alpha is 0")
    _emit(node, b, ("celu", X, number(alpha)))


@imports("ThresholdedRelu")
def import_thresholded_relu(node: Node, b: Builder) -> None:
    """x where it is above alpha, else 0, as one table."""
    _emit(node, b, ("threshold", X, number(node.attribute("alpha", 1.0))))


@imports("Shrink")
def import_shrink(node: Node, b: Builder) -> None:
    """x moved by bias towards 0, and 0 up to the threshold lambd, as one table."""
    threshold, bias = node.attribute("lambd", 0.5), node.attribute("bias", 0.0)
    _emit(node, b, ("shrink", X, number(threshold), number(bias)))


def _hard_sigmoid(alpha: float, beta: float) -> Expression:
    return ("min", ("max", plus(times(alpha, X), beta), number(0)), number(1))


@imports("HardSigmoid")
def import_hard_sigmoid(node: Node, b: Builder) -> None:
    """alpha * x + beta, clipped to [0, 1], as one table."""
    _emit(node, b, _hard_sigmoid(node.attribute("alpha", 0.2), node.attribute("beta", 0.5)))


@imports("HardSwish")
def import_hard_swish(node: Node, b: Builder) -> None:
    """x * clip(x / 6 + 1 / 2, 0, 1), as one table."""
    _emit(node, b, ("mul", X, _hard_sigmoid(1 / 6, 0.5)))


@imports("Mish")
def import_mish(node: Node, b: Builder) -> None:
    """x * tanh(softplus(x)), as one table."""
    _emit(node, b, ("mul", X, ("tanh", ("softplus", X))))


@imports("Swish")
def import_swish(node: Node, b: Builder) -> None:
    """x * sigmoid(alpha * x), alpha 1 when left out, as one table."""
    _emit(node, b, ("mul", X, ("sigmoid", times(node.attribute("alpha", 1.0), X))))


@imports("com.microsoft.QuickGelu")
def import_quick_gelu(node: Node, b: Builder) -> None:
    """x * sigmoid(alpha * x), alpha 1.702 when left out, as one table."""
    _emit(node, b, ("mul", X, ("sigmoid", times(node.attribute("alpha", 1.702), X))))


def _gelu(approximate: str) -> Expression:
    if approximate == "none":
        return ("mul", times(0.5, X), plus(("erf", times(sqrt(0.5), X)), 1))
    if approximate != "tanh":
        raise Unsupported(f"approximation {approximate!r}", 'it can be "none" or "tanh"')
    cube = ("mul", X, ("mul", X, X))
    inner = times(sqrt(2 / pi), ("add", X, times(0.044715, cube)))
    return ("mul", times(0.5, X), plus(("tanh", inner), 1))


@imports("Gelu", "com.microsoft.Gelu")
def import_gelu(node: Node, b: Builder) -> None:
    """Both forms, by the normal distribution and approximated by tanh, as one table."""
    _emit(node, b, _gelu(node.attribute("approximate", "none")))


@imports("com.microsoft.FastGelu")
def import_fast_gelu(node: Node, b: Builder) -> None:
    """Gelu approximated by tanh, without a bias, as one table."""
    if node.input(1):
        raise Unsupported(
            "a bias inside the activation", "export the model without optimising it for the runtime"
        )
    _emit(node, b, _gelu("tanh"))
