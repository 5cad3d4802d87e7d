"""Sum of two tensors that broadcast."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    imports,
    register,
)
from toolchain.ir.fixedpoint import activation_codes, clip
from toolchain.ops._binary import import_binary, lower_operands
from toolchain.ops._broadcast import broadcast_shape, same_shape
from toolchain.ops._examples import broadcast_shapes, clip_bounds
from toolchain.ops._sum import simulate_sum, sum_arguments, sum_output_floor


@register
@dataclass(frozen=True, slots=True)
class Add(Op):
    """Inputs a and b of one rank that broadcast; output a + b, clipped to [low, high]."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "arm_elementwise_add_s8",
            "ops/add.c.j2",
            ("arm_elementwise_add_s8.c",),
            when=same_shape,
            inplace=(0, 1),
        ),
        Kernel(
            "glue_broadcast_add_s8",
            "ops/add_broadcast.c.j2",
            ("glue_broadcast_add_s8.c", "arm_elementwise_add_s8.c"),
            inplace=(0, 1),
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
        """a + b, clipped."""
        total = values[0].astype(np.float64) + values[1]
        return (clip(total, self.low, self.high).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Both terms at one scale, added, requantised, clamped."""
        clamp = activation_codes(types[self.y].q, self.low, self.high)
        return (simulate_sum(self, types, codes, (1, 1), clamp),)

    def output_floor(self, types: Types, constants: Constants) -> float:
        """Smallest output scale whose arithmetic stays in int32."""
        return sum_output_floor(self, types, constants)

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """A constant operand as int8 codes."""
        return lower_operands(self, types, constants)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Requantisation, clamp and loops."""
        return sum_arguments(self, types, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Two maps that may broadcast."""
        a, b = broadcast_shapes(rng)
        low, high = clip_bounds(rng)
        return Example(cls("add", ("a", "b"), ("y",), low, high), {"a": a, "b": b})


@imports("Add")
def import_add(node: Node, b: Builder) -> None:
    """Two tensors that broadcast, or a tensor and a constant; one per channel joins layers."""

    def affine(c: Array) -> tuple[Array, Array]:
        return np.ones_like(c), c

    import_binary(node, b, Add, "add", {0: affine, 1: affine})
