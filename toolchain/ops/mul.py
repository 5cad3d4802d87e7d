"""Product of two tensors that broadcast."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Constants,
    DType,
    Example,
    Kernel,
    Lowered,
    Node,
    Op,
    Types,
    Writer,
    imports,
    in_place,
    register,
)
from toolchain.ir.fixedpoint import (
    clamp_codes,
    clip,
    quantize_multiplier,
    requantize,
    saturate,
)
from toolchain.ops import fast
from toolchain.ops._binary import import_binary, lower_operands, operand_quant
from toolchain.ops._broadcast import broadcast_shape, loops, same_shape
from toolchain.ops._examples import broadcast_shapes, clip_bounds


@register
@dataclass(frozen=True, slots=True)
class Mul(Op):
    """Inputs a and b of one rank that broadcast; output a * b, clipped to [low, high]."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *fast.MUL,
        Kernel(
            "arm_elementwise_mul_s8",
            "ops/mul.c.j2",
            ("arm_elementwise_mul_s8.c",),
            when=same_shape,
            overlap=in_place(0, 1),
        ),
        Kernel(
            "glue_broadcast_mul_s8",
            "ops/mul_broadcast.c.j2",
            ("glue_broadcast_mul_s8.c", "arm_elementwise_mul_s8.c"),
            overlap=in_place(0, 1),
        ),
    )
    batches: ClassVar[bool] = True
    has_activation: ClassVar[bool] = True
    is_elementwise: ClassVar[bool] = True

    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """The broadcast shape."""
        return (broadcast_shape(self, types),)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """a * b, clipped."""
        product = values[0].astype(np.float64) * values[1]
        return (clip(product, self.low, self.high).astype(np.float32),)

    def _multiplier(self, types: Types) -> tuple[int, int]:
        a, b, y = (types[n].q.scale for n in (*self.inputs, self.y))
        return quantize_multiplier(a * b / y)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Product of the centred codes, requantised, clamped."""
        a, b = (
            code.astype(np.int64) - types[n].q.zero_point
            for n, code in zip(self.inputs, codes, strict=True)
        )
        y = types[self.y].q
        scaled = requantize(a * b, *self._multiplier(types), self.rounding) + y.zero_point
        return (saturate(scaled, *clamp_codes(types[self.y], self.low, self.high), self.writes),)

    def output_floor(self, types: Types, constants: Constants) -> float:
        """Smallest output scale whose arithmetic stays in int32."""
        # products of 17 bits and 13 to the left, or of 30 bits
        least = 2.0**-13 if self.reads is DType.INT8 else 2.0
        return prod(operand_quant(self, x, types, constants).scale for x in self.inputs) * least

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """A constant operand as int8 codes."""
        return lower_operands(self, types, constants)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Requantisation, clamp and loops."""
        return {
            "result": self._multiplier(types),
            "clamp": clamp_codes(types[self.y], self.low, self.high),
            "loops": loops(self, types),
        }

    def write(self, w: Writer) -> None:
        """Mul."""
        operands, perm = w.operands(self)
        y = w.node("Mul", operands, self.y, self.name)
        w.finish(self.y, y, perm, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Two maps that may broadcast."""
        a, b = broadcast_shapes(rng)
        low, high = clip_bounds(rng)
        return Example(cls("mul", ("a", "b"), ("y",), low, high), {"a": a, "b": b})


def _gain(c: Array) -> tuple[Array, Array]:
    return c, np.zeros_like(c)


@imports("Mul")
def import_mul(node: Node, b: Builder) -> None:
    """Two tensors that broadcast, or a tensor and a constant; a factor per channel joins layers."""
    import_binary(node, b, Mul, "mul", {0: _gain, 1: _gain})
