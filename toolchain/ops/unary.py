"""Any function of one variable, and any chain of them, as ONE 256-entry table (R6).

The function is an expression over ("x",): ("const", v), or (name, operand, ...) with the names
of FUNCTIONS. Rewrites compose expressions, so a chain costs one look-up and one rounding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from onnx import TensorProto

from toolchain.ir import (
    FREE,
    Array,
    Builder,
    Example,
    Fixed,
    Kernel,
    Node,
    Op,
    Quant,
    QuantRule,
    Target,
    Types,
    Writer,
    in_place,
    register,
)
from toolchain.ir.fixedpoint import INT8_MAX
from toolchain.ops._examples import size
from toolchain.ops._functions import FUNCTIONS
from toolchain.ops._onnx_functions import domain, in_float32, write_expression

Expression = tuple[Any, ...]

_FIXED = {
    "sigmoid": Quant((1.0 / 256,), -128),
    "tanh": Quant((1.0 / 128,), 0),
}


def evaluate_expression(expression: Expression, x: Array) -> Array:
    """Value of an expression in float64."""
    head, *operands = expression
    if head == "x":
        return x
    if head == "const":
        return np.asarray(float(operands[0]))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return np.asarray(FUNCTIONS[head](*(evaluate_expression(o, x) for o in operands)))


def substitute(expression: Expression, inner: Expression) -> Expression:
    """The expression with `inner` in place of ("x",)."""
    head, *operands = expression
    if head == "x":
        return inner
    if head == "const":
        return expression
    return (head, *(substitute(o, inner) for o in operands))


def clip_expression(low: float | None, high: float | None) -> Expression:
    """min(max(x, low), high), without the bounds that are open (None)."""
    expression: Expression = ("x",)
    if low is not None:
        expression = ("max", expression, ("const", low))
    if high is not None:
        expression = ("min", expression, ("const", high))
    return expression


def clip_of(expression: Expression) -> tuple[float | None, float | None] | None:
    """(low, high) when the expression is what clip_expression makes, else None."""
    bounds: dict[str, float] = {}
    for name in ("min", "max"):
        if expression[0] == name and len(expression) == 3 and expression[2][0] == "const":
            bounds[name] = float(expression[2][1])
            expression = expression[1]
    if expression != ("x",) or not bounds:
        return None
    return bounds.get("max"), bounds.get("min")


def affine_of(expression: Expression) -> tuple[float, float] | None:
    """(gain, bias) when the expression is gain * x + bias, else None."""
    head = expression[0]
    if head == "x":
        return 1.0, 0.0
    if head == "const":
        return 0.0, float(expression[1])
    if head == "neg":
        return affine_of(("mul", expression[1], ("const", -1.0)))
    if head not in ("add", "sub", "mul", "div"):
        return None
    left, right = affine_of(expression[1]), affine_of(expression[2])
    if left is None or right is None:
        return None
    (a, b), (c, d) = left, right
    if head in ("add", "sub"):
        sign = 1 if head == "add" else -1
        return a + sign * c, b + sign * d
    if head == "mul" and c == 0:
        return a * d, b * d
    if head == "mul" and a == 0:
        return c * b, d * b
    if head == "div" and c == 0 and d != 0:
        return a / d, b / d
    return None


@register
@dataclass(frozen=True, slots=True)
class Unary(Op):
    """y = expression(x), element by element."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_lookup_s8", "ops/unary.c.j2", ("glue_lookup_s8.c",), overlap=in_place(0)),
    )
    batches: ClassVar[bool] = True
    is_elementwise: ClassVar[bool] = True

    expression: Expression

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the input."""
        return (types[self.x].shape,)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The expression in float64, broadcast to the input's shape."""
        result = evaluate_expression(self.expression, values[0].astype(np.float64))
        with np.errstate(over="ignore"):
            return (np.broadcast_to(result, values[0].shape).astype(np.float32),)

    def table(self, types: Types) -> Array:
        """Output code by input code + 128, int8 [256]; rounds half away from zero."""
        y = types[self.y].q
        scaled = self._values(types) / y.scale
        bounded = np.clip(scaled, -1024, 1024)
        codes = np.trunc(bounded + np.copysign(0.5, bounded)) + y.zero_point
        return np.asarray(np.clip(codes, -128, 127), np.int8)

    def _values(self, types: Types) -> Array:
        """The function at all 256 codes; where it is not defined, as at the nearest code it is.

        Zero is approached from the side where the other codes are, which decides 1 / 0.
        """
        x = types[self.x].q
        real = (np.arange(-128, 128) - x.zero_point) * np.float64(x.scale)
        if x.zero_point == INT8_MAX:
            real[real == 0] = -0.0
        values = np.broadcast_to(evaluate_expression(self.expression, real), (256,))
        defined = np.flatnonzero(~np.isnan(values))
        if not defined.size:
            return np.zeros(256)
        places = np.abs(np.arange(256)[:, None] - defined).argmin(axis=1)
        return np.asarray(values[defined[places]])

    def derived_range(self, types: Types) -> tuple[float, float]:
        """Extremes of the function over all 256 codes, poles left out."""
        values = self._values(types)
        finite = values[np.isfinite(values)]
        return float(finite.min(initial=0.0)), float(finite.max(initial=0.0))

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """One look-up per element."""
        return (self.table(types)[codes[0].astype(np.int16) + 128],)

    def quant_rule(self, _types: Types) -> QuantRule:
        """Sigmoid and tanh have the ranges of their functions."""
        quant = _FIXED.get(self.expression[0])
        return Fixed(quant) if quant is not None else FREE

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """The look-up table."""
        return {"table": self.table(types)}

    def write(self, w: Writer) -> None:
        """The expression as nodes; as a table where float32 would not give the same codes."""
        x, y = (w.graph.types[n].q for n in (self.x, self.y))
        limits, perm = self.reads.limits, w.layout(self.x)
        codes = self.answers(w.graph.types)
        inside = domain(self.expression, x, limits)
        if inside is None or not in_float32(self.expression, (x, y), limits, codes, inside):
            index = w.node("Cast", [w.codes(self.x, perm)], self.y, to=TensorProto.INT32)
            first = w.number(np.array(-limits[0], np.int32))
            shifted = w.node("Add", [index, first], self.y)
            found = w.node("Gather", [w.number(codes, "table"), shifted], self.y, self.name)
            w.keep(self.y, found, perm)
            return
        real = w.clipped(w.real(self.x, perm), *inside, self.y)
        w.finish(self.y, write_expression(w, self.expression, real, self.y, self.name), perm)

    def answers(self, types: Types) -> Array:
        """Output code of every input code, from the least on."""
        return self.table(types)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """A random function over a random map."""
        choices: list[Expression] = [
            ("sigmoid", ("x",)),
            ("tanh", ("x",)),
            clip_expression(0.0, None),
            clip_expression(-0.5, 1.0),
            ("mul", ("x",), ("sigmoid", ("x",))),
            ("leaky_relu", ("x",), ("const", 0.1)),
            ("elu", ("x",), ("const", 1.0)),
            ("softplus", ("x",)),
            ("erf", ("x",)),
            ("abs", ("x",)),
            ("sqrt", ("abs", ("x",))),
            ("log", ("add", ("abs", ("x",)), ("const", 1.0))),
        ]
        shape = (1, size(rng), size(rng, 1, 30))
        return Example(
            cls("unary", ("x",), ("y",), choices[int(rng.integers(len(choices)))]), {"x": shape}
        )


def emit_unary(node: Node, b: Builder, x: str, expression: Expression) -> None:
    """Emit output 0 of the node as a function of the tensor `x`."""
    b.emit(Unary(node.name, (b.activation(x),), (node.outputs[0],), expression))
