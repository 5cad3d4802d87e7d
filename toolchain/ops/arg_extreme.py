"""Index of the largest or smallest value along an axis."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    INDICES,
    Array,
    Builder,
    Example,
    Fixed,
    Kernel,
    Node,
    Op,
    Types,
    Unsupported,
    Writer,
    imports,
    register,
)
from toolchain.ops._axes import axis_of
from toolchain.ops._examples import size
from toolchain.ops._reduce import blocks, emit_reduction, permuted_axes, reduced_shape
from toolchain.ops.reduce_extreme import ReduceExtreme

MAX_COUNT = 256
"""Values along the axis: an index is a code."""


@register
@dataclass(frozen=True, slots=True)
class ArgExtreme(Op):
    """Index of the largest (or smallest) code along one axis, which stays with size 1.

    The first of equal ones, or the `last`. The output's codes are the indices less 128.
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_arg_extreme_s8", "ops/arg_extreme.c.j2", ("glue_arg_extreme_s8.c",)),
    )

    axes: tuple[int, ...]
    largest: bool = True
    last: bool = False

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """The input's shape with the axis of size 1."""
        shape = types[self.x].shape
        (axis,) = self.axes
        if shape[axis] > MAX_COUNT:
            raise Unsupported(
                f"an index among {shape[axis]} values",
                f"up to {MAX_COUNT} are supported; compute labels from the scores, outside of the "
                "model",
            )
        return (reduced_shape(shape, self.axes),)

    def _index(self, x: Array) -> Array:
        pick = np.argmax if self.largest else np.argmin
        (axis,) = self.axes
        if self.last:
            found = x.shape[axis] - 1 - pick(np.flip(x, axis), axis=axis, keepdims=True)
            return np.asarray(found)
        return np.asarray(pick(x, axis=axis, keepdims=True))

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The index as a real number."""
        return (self._index(values[0]).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:  # noqa: ARG002
        """The index less 128."""
        return ((self._index(codes[0]) - 128).astype(np.int8),)

    def quant_rule(self, _types: Types) -> Fixed:
        """Steps of 1 from 0 on."""
        return Fixed(INDICES, strict=True)

    def permuted(self, perm: tuple[int, ...]) -> "ArgExtreme | None":
        """Along the same axis before the transpose."""
        axes = permuted_axes(self.axes, perm)
        return None if axes is None else replace(self, axes=axes)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """The input as three axes."""
        return {
            "blocks": blocks(types[self.x].shape, self.axes),
            "largest": self.largest,
            "last": self.last,
        }

    def write(self, w: Writer) -> None:
        """ArgMax or ArgMin, as real numbers."""
        w.require(12)
        index = w.node(
            "ArgMax" if self.largest else "ArgMin",
            [w.real(self.x)],
            self.y,
            self.name,
            axis=self.axes[0],
            select_last_index=int(self.last),
        )
        w.finish(self.y, w.node("Cast", [index], self.y, to=1))

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random shape and axis."""
        shape = (1, *(size(rng, 1, 9) for _ in range(3)))
        axis, largest, last = (int(v) for v in rng.integers((4, 2, 2)))
        return Example(
            cls("arg_extreme", ("x",), ("y",), (axis,), bool(largest), bool(last)), {"x": shape}
        )


@imports("ArgMax", "ArgMin")
def import_arg_extreme(node: Node, b: Builder) -> None:
    """Along an axis of up to 256; left out where it is an output beside the scores."""
    axis = axis_of(int(node.attribute("axis", 0)), len(b.shape(node.input(0))))
    largest = node.op_type == "ArgMax"
    last = bool(node.attribute("select_last_index", 0))
    reduction = replace(node, attributes={**node.attributes, "axes": (axis,)})
    emit_reduction(
        reduction, b, lambda x, y, axes: ArgExtreme(node.name, (x,), (y,), axes, largest, last)
    )


@imports("TopK")
def import_top_k(node: Node, b: Builder) -> None:
    """k = 1: the largest or smallest value along an axis and its index."""
    k = node.attribute("k")
    if k is None:
        k = int(b.required(node, 1, "k").item())
    if k != 1:
        raise Unsupported(f"TopK with k = {k}", "sort the scores outside of the model")
    axis = axis_of(int(node.attribute("axis", -1)), len(b.shape(node.input(0))))
    largest = bool(node.attribute("largest", 1))
    values, indices = (*node.outputs, "")[:2]
    reduction = replace(node, attributes={"axes": (axis,)})
    if values:
        emit_reduction(
            replace(reduction, outputs=(values,)),
            b,
            lambda x, y, axes: ReduceExtreme(node.name, (x,), (y,), axes, largest),
        )
    if indices:
        emit_reduction(
            replace(reduction, outputs=(indices,)),
            b,
            lambda x, y, axes: ArgExtreme(node.name, (x,), (y,), axes, largest),
        )
