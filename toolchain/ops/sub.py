"""Difference of two tensors that broadcast."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Example,
    Kernel,
    Node,
    Writer,
    imports,
    in_place,
    register,
)
from toolchain.ops._binary import import_binary
from toolchain.ops._broadcast import same_shape
from toolchain.ops._examples import broadcast_shapes, clip_bounds
from toolchain.ops._sum import SumOp


@register
@dataclass(frozen=True, slots=True)
class Sub(SumOp):
    """Inputs a and b of one rank that broadcast; output a - b, clipped to [low, high]."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_elementwise_sub_s8",
            "ops/sub.c.j2",
            ("glue_elementwise_sub_s8.c",),
            when=same_shape,
            overlap=in_place(0, 1),
        ),
        Kernel(
            "glue_broadcast_sub_s8",
            "ops/sub_broadcast.c.j2",
            ("glue_broadcast_sub_s8.c", "glue_elementwise_sub_s8.c"),
            overlap=in_place(0, 1),
        ),
    )
    batches: ClassVar[bool] = True
    sign: ClassVar[int] = -1

    low: float | None = None
    high: float | None = None

    def write(self, w: Writer) -> None:
        """Sub."""
        operands, perm = w.operands(self)
        y = w.node("Sub", operands, self.y, self.name)
        w.finish(self.y, y, perm, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Two maps that may broadcast."""
        a, b = broadcast_shapes(rng)
        low, high = clip_bounds(rng)
        return Example(cls("sub", ("a", "b"), ("y",), low, high), {"a": a, "b": b})


@imports("Sub")
def import_sub(node: Node, b: Builder) -> None:
    """Two tensors that broadcast, or a tensor and a constant; one per channel joins layers."""

    def minus(c: Array) -> tuple[Array, Array]:
        return np.ones_like(c), -c

    def from_constant(c: Array) -> tuple[Array, Array]:
        return -np.ones_like(c), c

    import_binary(node, b, Sub, "sub", {0: from_constant, 1: minus})
