"""Product of two tensors of one shape; Div by a constant."""

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
    Types,
    Unsupported,
    imports,
    register,
)
from toolchain.ir.fixedpoint import (
    activation_codes,
    clip,
    quantize_multiplier,
    requantize,
    saturate,
)
from toolchain.ops._binary import import_binary, lower_operands
from toolchain.ops._examples import clip_bounds, size


@register
@dataclass(frozen=True, slots=True)
class Mul(Op):
    """Inputs a and b of one shape; output a * b, clipped to [low, high]."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "arm_elementwise_mul_s8",
            "ops/mul.c.j2",
            ("arm_elementwise_mul_s8.c",),
            inplace=(0, 1),
        ),
    )
    has_activation: ClassVar[bool] = True
    is_elementwise: ClassVar[bool] = True

    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the first input."""
        return (types[self.x].shape,)

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
        scaled = requantize(a * b, *self._multiplier(types)) + y.zero_point
        return (saturate(scaled, *activation_codes(y, self.low, self.high)),)

    def output_floor(self, types: Types, constants: Constants) -> float:  # noqa: ARG002
        """Smallest output scale whose arithmetic stays in int32."""
        scales = [types[n].q.scale for n in self.inputs if types[n].quant is not None]
        return float(np.prod(scales)) / 2.0**13 if len(scales) == 2 else 0.0

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """A constant operand as int8 codes."""
        return lower_operands(self, types, constants)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Requantisation and clamp."""
        return {
            "result": self._multiplier(types),
            "clamp": activation_codes(types[self.y].q, self.low, self.high),
        }

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Two maps."""
        shape = (1, size(rng), size(rng), size(rng, 1, 20))
        low, high = clip_bounds(rng)
        return Example(cls("mul", ("a", "b"), ("y",), low, high), {"a": shape, "b": shape})


def _gain(c: Array) -> tuple[Array, Array]:
    return c, np.zeros_like(c)


@imports("Mul")
def import_mul(node: Node, b: Builder) -> None:
    """x * c per channel is affine with bias 0."""
    import_binary(node, b, Mul, "mul", {0: _gain, 1: _gain})


@imports("Div")
def import_div(node: Node, b: Builder) -> None:
    """A tensor by a constant, or a scalar constant by a tensor."""
    dividend, divisor = (b.value(node.input(i)) for i in (0, 1))
    if divisor is not None:
        if not np.all(divisor):
            raise Unsupported("division by a constant that holds zeros")
        if divisor.size > 1:  # the same as a product with the reciprocals
            name = b.fresh(f"{node.input(1)}.reciprocal")
            b.known[name] = (1.0 / divisor.astype(np.float64)).astype(np.float32)
            import_mul(replace(node, inputs=(node.input(0), name)), b)
            return
    elif dividend is None:
        raise Unsupported("division of two tensors", "the divisor must be a constant")
    elif dividend.size > 1:
        raise Unsupported(
            f"a constant of shape {dividend.shape} divided by a tensor",
            "the dividend must be a tensor or a single number",
        )
    import_binary(node, b, Mul, "div", {})
