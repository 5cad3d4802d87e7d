"""Quotient of two tensors that broadcast, by a table of reciprocals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Constants,
    Example,
    Kernel,
    Lowered,
    Node,
    Op,
    Target,
    Types,
    Unsupported,
    Writer,
    imports,
    in_place,
    register,
)
from toolchain.ir.fixedpoint import INT8_MAX, activation_codes, clip, saturate
from toolchain.ops._binary import import_binary, lower_operands
from toolchain.ops._broadcast import broadcast_shape, loops
from toolchain.ops._examples import broadcast_shapes, clip_bounds
from toolchain.ops.mul import import_mul

SHIFT = 15
"""GLUE_QUOTIENT_SHIFT of glue.h."""

LARGEST = 2**23 - 1
"""Times 255 it fits in int32; a quotient of a clamped reciprocal is beyond all codes anyway."""


@register
@dataclass(frozen=True, slots=True)
class Div(Op):
    """Inputs a and b of one rank that broadcast; output a / b, clipped to [low, high]."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_broadcast_div_s8",
            "ops/div.c.j2",
            ("glue_broadcast_div_s8.c",),
            overlap=in_place(0, 1),
        ),
    )
    has_activation: ClassVar[bool] = True
    is_elementwise: ClassVar[bool] = True

    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """The broadcast shape."""
        return (broadcast_shape(self, types),)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """a / b, clipped."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            quotient = values[0].astype(np.float64) / values[1]
            return (clip(quotient, self.low, self.high).astype(np.float32),)

    def _reciprocals(self, types: Types) -> Array:
        """Factor of the dividend by divisor code + 128, int32 [256], SHIFT fractional bits.

        A divisor of 0 counts as a very small one of the sign the other codes have.
        """
        a, b, y = (types[n].q for n in (*self.inputs, self.y))
        divisor = np.arange(-128.0, 128.0) - b.zero_point
        divisor[divisor == 0] = -1e-9 if b.zero_point == INT8_MAX else 1e-9
        exact = 2.0**SHIFT * a.scale / (b.scale * y.scale) / divisor
        return np.clip(np.rint(exact), -LARGEST, LARGEST).astype(np.int32)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Centred dividend times reciprocal, rounded, clamped."""
        a, b = codes
        y = types[self.y].q
        factors = self._reciprocals(types).astype(np.int64)[b.astype(np.int16) + 128]
        product = (a.astype(np.int64) - types[self.x].q.zero_point) * factors
        quotient = (product + (1 << (SHIFT - 1))) >> SHIFT
        return (saturate(quotient + y.zero_point, *activation_codes(y, self.low, self.high)),)

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """A constant operand as int8 codes."""
        return lower_operands(self, types, constants)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Clamp and loops."""
        return {
            "clamp": activation_codes(types[self.y].q, self.low, self.high),
            "loops": loops(self, types),
        }

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """The reciprocals."""
        return {"reciprocals": self._reciprocals(types)}

    def write(self, w: Writer) -> None:
        """Div; a divisor that may be zero is kept from it as the firmware does."""
        operands, perm = w.operands(self)
        divisor = self.inputs[1]
        quant, codes = w.graph.types[divisor].q, w.graph.constants.get(divisor)
        if codes is None or np.any(codes == quant.zero_point):
            tiny = (-1e-9 if quant.zero_point == INT8_MAX else 1e-9) * quant.scale
            zero = w.node("Equal", [operands[1], w.scalar(0.0)], self.y)
            operands[1] = w.node("Where", [zero, w.scalar(tiny), operands[1]], self.y)
        y = w.node("Div", operands, self.y, self.name)
        w.finish(self.y, y, perm, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Two maps that may broadcast; most divisors are constants that stay away from zero."""
        a, b = broadcast_shapes(rng)
        low, high = clip_bounds(rng)
        op = cls("div", ("a", "b"), ("y",), low, high)
        if rng.random() < 0.25:
            return Example(op, {"a": a, "b": b})
        divisor = rng.uniform(0.5, 2.0, b) * rng.choice((-1.0, 1.0), b)
        return Example(op, {"a": a}, {"b": divisor.astype(np.float32)})


@imports("Div")
def import_div(node: Node, b: Builder) -> None:
    """Two tensors that broadcast, or a tensor and a constant; one per channel joins layers."""
    divisor = b.value(node.input(1))
    if divisor is None:
        import_binary(node, b, Div, "div", {})
        return
    if not np.all(divisor):
        raise Unsupported("division by a constant that holds zeros")
    if divisor.size == 1:
        import_binary(node, b, Div, "div", {})
        return
    # the same as a product with the reciprocals
    name = b.fresh(f"{node.input(1)}.reciprocal")
    b.known[name] = (1.0 / divisor.astype(np.float64)).astype(np.float32)
    import_mul(replace(node, inputs=(node.input(0), name)), b)
