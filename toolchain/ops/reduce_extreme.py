"""Largest or smallest value over any axes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Example,
    Kernel,
    Node,
    Op,
    SameAs,
    Types,
    Writer,
    imports,
    register,
)
from toolchain.ir.fixedpoint import activation_codes, clip
from toolchain.ops._examples import clip_bounds, size
from toolchain.ops._reduce import blocks, emit_reduction, permuted_axes, reduced_shape


@register
@dataclass(frozen=True, slots=True)
class ReduceExtreme(Op):
    """Largest (or smallest) over axes that are neighbours; they stay with size 1; clipped."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_reduce_extreme_s8", "ops/reduce_extreme.c.j2", ("glue_reduce_extreme_s8.c",)),
    )
    has_activation: ClassVar[bool] = True

    axes: tuple[int, ...]
    largest: bool = True
    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """The input's shape with the axes of size 1."""
        shape = types[self.x].shape
        if blocks(shape, self.axes) is None:
            raise ValueError(f"axes {self.axes} of {shape} are not neighbours")
        return (reduced_shape(shape, self.axes),)

    def _extreme(self, x: Array) -> Array:
        pick = np.max if self.largest else np.min
        return np.asarray(pick(x, axis=self.axes, keepdims=True))

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Maximum or minimum, clipped."""
        best = self._extreme(values[0]).astype(np.float64)
        return (clip(best, self.low, self.high).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Maximum or minimum of the codes, clamped."""
        clamp = activation_codes(types[self.y].q, self.low, self.high)
        return (np.clip(self._extreme(codes[0]), *clamp).astype(np.int8),)

    def quant_rule(self, _types: Types) -> SameAs:
        """As the input."""
        return SameAs()

    def permuted(self, perm: tuple[int, ...]) -> "ReduceExtreme | None":
        """Over the same axes before the transpose."""
        axes = permuted_axes(self.axes, perm)
        return None if axes is None else replace(self, axes=axes)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """The input as three axes, and the clamp."""
        return {
            "blocks": blocks(types[self.x].shape, self.axes),
            "largest": self.largest,
            "clamp": activation_codes(types[self.y].q, self.low, self.high),
        }

    def write(self, w: Writer) -> None:
        """ReduceMax or ReduceMin."""
        op_type = "ReduceMax" if self.largest else "ReduceMin"
        y = w.node(op_type, [w.real(self.x)], self.y, self.name, axes=self.axes)
        w.finish(self.y, y, None, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random shape, neighbouring axes and activation."""
        shape = (1, *(size(rng, 1, 6) for _ in range(3)))
        first, last = sorted(int(i) for i in rng.integers(0, 4, 2))
        low, high = clip_bounds(rng)
        axes = tuple(range(first, last + 1))
        largest = bool(rng.random() < 0.5)
        return Example(cls("extreme", ("x",), ("y",), axes, largest, low, high), {"x": shape})


@imports("ReduceMax")
def import_reduce_max(node: Node, b: Builder) -> None:
    """Largest value over any axes, with or without keepdims."""
    emit_reduction(node, b, lambda x, y, axes: ReduceExtreme(node.name, (x,), (y,), axes))


@imports("ReduceMin")
def import_reduce_min(node: Node, b: Builder) -> None:
    """Smallest value over any axes, with or without keepdims."""
    emit_reduction(
        node, b, lambda x, y, axes: ReduceExtreme(node.name, (x,), (y,), axes, largest=False)
    )
