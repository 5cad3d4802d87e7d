"""Importers of elementary functions; each is one table."""

from toolchain.ir import Array, Builder, Node, Unsupported, imports
from toolchain.ops.unary import emit_unary


@imports(
    "Abs", "Neg", "Sign", "Floor", "Ceil", "Round", "Exp", "Log", "Sqrt", "Reciprocal", "Sin",
    "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh",
)  # fmt: skip
def import_elementary(node: Node, b: Builder) -> None:
    """The function of every element, as one table; codes outside its domain give finite values."""
    emit_unary(node, b, node.input(0), (node.op_type.lower(), ("x",)))


@imports("Pow")
def import_pow(node: Node, b: Builder) -> None:
    """A power with a constant exponent, or a constant to the power of x, as one table."""
    _with_number(node, b, "pow")


@imports("Mod")
def import_mod(node: Node, b: Builder) -> None:
    """The remainder of a division by a constant, or of a constant by x, as one table."""
    _with_number(node, b, "fmod" if node.attribute("fmod", 0) else "mod")


def _with_number(node: Node, b: Builder, function: str) -> None:
    """Emit function(x, c) or function(c, x) for a constant that has one value."""
    values = [b.value(node.input(i)) for i in (0, 1)]
    for index, value in enumerate(values):
        if value is None:
            continue
        x = node.input(1 - index)
        c = single_value(value, b.shape(x))
        if c is None:
            raise Unsupported(
                f"a constant of shape {value.shape} with different values", "it must be one number"
            )
        number = ("const", c)
        emit_unary(node, b, x, (function, *((number, ("x",)) if index == 0 else (("x",), number))))
        return
    raise Unsupported(
        "two operands that are computed at run time", "one of them must be a constant number"
    )


def single_value(value: Array, shape: tuple[int, ...]) -> float | None:
    """The value of a constant whose elements are equal and that leaves `shape` as it is."""
    if not value.size or (value != value.flat[0]).any() or value.ndim > len(shape):
        return None
    aligned = (1,) * (len(shape) - value.ndim) + value.shape
    if any(n not in (1, m) for n, m in zip(aligned, shape, strict=True)):
        return None
    return float(value.flat[0])
