"""Sums over any axes: of values, magnitudes or squares, and the root of a sum of squares."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isqrt, prod, sqrt
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Constants,
    Example,
    Kernel,
    Node,
    Op,
    Types,
    Unsupported,
    Writer,
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
from toolchain.ops._examples import clip_bounds, size
from toolchain.ops._reduce import blocks, emit_reduction, permuted_axes, reduced_shape

MAX_REDUCED = 33000
"""Sums of more squares of centred codes could leave int32 (GLUE_MAX_REDUCED)."""
_ROOT_SHIFT = 16
_KINDS = {
    "sum": "GLUE_REDUCE_SUM",
    "l1": "GLUE_REDUCE_ABSOLUTE",
    "squares": "GLUE_REDUCE_SQUARES",
    "l2": "GLUE_REDUCE_ROOT_OF_SQUARES",
}
_ONNX = {"l1": "ReduceL1", "squares": "ReduceSumSquare", "l2": "ReduceL2"}


def _terms(kind: str, x: Array) -> Array:
    if kind == "sum":
        return x
    return np.abs(x) if kind == "l1" else x * x


@register
@dataclass(frozen=True, slots=True)
class ReduceSum(Op):
    """Sum over axes that are neighbours; they stay with size 1; clipped to [low, high].

    kind: "sum" of x, "l1" of |x|, "squares" of x * x, "l2" the root of the sum of x * x.
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_reduce_sum_s8", "ops/reduce_sum.c.j2", ("glue_reduce_sum_s8.c",)),
    )
    has_activation: ClassVar[bool] = True

    axes: tuple[int, ...]
    kind: str = "sum"
    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """The input's shape with the axes of size 1."""
        shape = types[self.x].shape
        sizes = blocks(shape, self.axes)
        if sizes is None:
            raise ValueError(f"axes {self.axes} of {shape} are not neighbours")
        if sizes[1] > MAX_REDUCED:
            raise Unsupported(f"sums of {sizes[1]} values", f"up to {MAX_REDUCED} are supported")
        return (reduced_shape(shape, self.axes),)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The sum in float64, clipped."""
        terms = _terms(self.kind, values[0].astype(np.float64))
        total = np.asarray(terms.sum(axis=self.axes, keepdims=True))
        if self.kind == "l2":
            total = np.sqrt(total)
        return (clip(total, self.low, self.high).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """int32 sum of centred codes, for "l2" its integer root, requantised, clamped."""
        y = types[self.y].q
        centred = codes[0].astype(np.int64) - types[self.x].q.zero_point
        total = np.asarray(_terms(self.kind, centred).sum(axis=self.axes, keepdims=True))
        if self.kind == "l2":
            total = _roots(total << _ROOT_SHIFT)
        factor = quantize_multiplier(self._unit(types) / y.scale)
        scaled = requantize(total, *factor, self.rounding)
        return (saturate(scaled + y.zero_point, *activation_codes(y, self.low, self.high)),)

    def _unit(self, types: Types) -> float:
        """Real value of 1 in the accumulator."""
        scale = types[self.x].q.scale
        if self.kind == "squares":
            return scale * scale
        return scale / 2 ** (_ROOT_SHIFT // 2) if self.kind == "l2" else scale

    def output_floor(self, types: Types, constants: Constants) -> float:  # noqa: ARG002
        """Smallest output scale whose arithmetic stays in int32."""
        count = prod(types[self.x].shape[a] for a in self.axes)
        reach = 255.0 * count
        if self.kind == "squares":
            reach = 255.0**2 * count
        elif self.kind == "l2":
            reach = 255.0 * sqrt(count) * 2 ** (_ROOT_SHIFT // 2)
        return reach * self._unit(types) / 2.0**29

    def permuted(self, perm: tuple[int, ...]) -> "ReduceSum | None":
        """Over the same axes before the transpose."""
        axes = permuted_axes(self.axes, perm)
        return None if axes is None else replace(self, axes=axes)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """The input as three axes, requantisation and clamp."""
        y = types[self.y].q
        return {
            "blocks": blocks(types[self.x].shape, self.axes),
            "kind": _KINDS[self.kind],
            "result": quantize_multiplier(self._unit(types) / y.scale),
            "clamp": activation_codes(y, self.low, self.high),
        }

    def write(self, w: Writer) -> None:
        """ReduceSum, ReduceL1, ReduceSumSquare or ReduceL2."""
        x = w.real(self.x)
        if self.kind == "sum":
            axes = w.number(np.array(self.axes, np.int64), "axes")
            y = w.node("ReduceSum", [x, axes], self.y, self.name)
        else:
            y = w.node(_ONNX[self.kind], [x], self.y, self.name, axes=self.axes)
        w.finish(self.y, y, None, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random shape, neighbouring axes, kind and activation."""
        shape = (1, *(size(rng, 1, 6) for _ in range(3)))
        first, last = sorted(int(i) for i in rng.integers(0, 4, 2))
        low, high = clip_bounds(rng)
        axes = tuple(range(first, last + 1))
        kind = list(_KINDS)[int(rng.integers(len(_KINDS)))]
        return Example(cls("sum", ("x",), ("y",), axes, kind, low, high), {"x": shape})


def _roots(values: Array) -> Array:
    """floor(sqrt(v)), exact."""
    return np.array([isqrt(int(v)) for v in values.ravel()], np.int64).reshape(values.shape)


def _import(node: Node, b: Builder, kind: str) -> None:
    emit_reduction(node, b, lambda x, y, axes: ReduceSum(node.name, (x,), (y,), axes, kind))


@imports("ReduceSum")
def import_reduce_sum(node: Node, b: Builder) -> None:
    """Sum over any axes, with or without keepdims."""
    _import(node, b, "sum")


@imports("ReduceL1")
def import_reduce_l1(node: Node, b: Builder) -> None:
    """Sum of magnitudes over any axes, with or without keepdims."""
    _import(node, b, "l1")


@imports("ReduceSumSquare")
def import_reduce_sum_square(node: Node, b: Builder) -> None:
    """Sum of squares over any axes, with or without keepdims."""
    _import(node, b, "squares")


@imports("ReduceL2")
def import_reduce_l2(node: Node, b: Builder) -> None:
    """Root of the sum of squares over any axes, with or without keepdims."""
    _import(node, b, "l2")
