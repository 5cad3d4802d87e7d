"""Constant padding; zero padding before a convolution is fused into it by a pass."""

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
    Unsupported,
    imports,
    register,
)
from toolchain.ir.fixedpoint import quantize
from toolchain.ops._axes import axis_of
from toolchain.ops._examples import size


@register
@dataclass(frozen=True, slots=True)
class Pad(Op):
    """Adds before[i] and after[i] elements of `value` on axis i, at most 4 dimensions."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_pad_s8", "ops/pad.c.j2", ("glue_pad_s8.c",)),
    )

    before: tuple[int, ...]
    after: tuple[int, ...]
    value: float = 0.0

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """Grown shape."""
        shape = types[self.x].shape
        return (tuple(b + n + a for b, n, a in zip(self.before, shape, self.after, strict=True)),)

    def _pad(self, x: Array, value: float) -> Array:
        return np.pad(
            x,
            tuple(zip(self.before, self.after, strict=True)),
            constant_values=x.dtype.type(value),
        )

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Padded values."""
        return (self._pad(values[0], self.value),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Padded with the code of the value."""
        return (self._pad(codes[0], self._code(types)),)

    def _code(self, types: Types) -> int:
        return int(quantize(self.value, types[self.y].q))

    def quant_rule(self, _types: Types) -> SameAs:
        """As the input; a pad value outside its range saturates."""
        return SameAs()

    def permuted(self, perm: tuple[int, ...]) -> "Pad":
        """The same with the pads of every axis where the permutation took it from."""
        rank = range(len(perm))
        before = tuple(self.before[perm.index(i)] for i in rank)
        after = tuple(self.after[perm.index(i)] for i in rank)
        return replace(self, before=before, after=after)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Four dimensions, pads and the code of the value."""
        lead = 4 - len(self.before)
        return {
            "dims": (1,) * lead + types[self.x].shape,
            "before": (0,) * lead + self.before,
            "after": (0,) * lead + self.after,
            "code": self._code(types),
        }

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """A map with random pads."""
        before, after = (
            (0, *(int(n) for n in rng.integers(0, 4, 3))),
            (0, *(int(n) for n in rng.integers(0, 4, 3))),
        )
        shape = (1, size(rng), size(rng), size(rng))
        return Example(cls("pad", ("x",), ("y",), before, after), {"x": shape})


@imports("Pad")
def import_pad(node: Node, b: Builder) -> None:
    """Mode constant; pads and value are attributes until opset 10, inputs since; axes since 18."""
    mode = node.attribute("mode", "constant")
    if mode != "constant":
        raise Unsupported(f"Pad with mode {mode!r}", "only mode 'constant' is supported")
    shape = b.shape(node.input(0))
    pads = node.attribute("pads")
    pads = b.required(node, 1, "the list of pads") if pads is None else np.asarray(pads)
    value = float(node.attribute("value", 0.0))
    if node.input(2):
        value = float(b.required(node, 2, "the pad value").reshape(()))
    axes = list(range(len(shape)))
    if node.input(3):
        axes = [axis_of(a, len(shape)) for a in np.ravel(b.required(node, 3, "the list of axes"))]
    if len(shape) > 4:
        raise Unsupported(f"Pad of {len(shape)} dimensions", "at most 4 are supported")
    if len(pads) != 2 * len(axes):
        raise Unsupported(f"{len(pads)} pads for {len(axes)} axes")
    if pads.min(initial=0) < 0:
        raise Unsupported("negative pads", "use Slice to crop")
    before, after = [0] * len(shape), [0] * len(shape)
    for position, axis in enumerate(axes):
        before[axis], after[axis] = int(pads[position]), int(pads[len(axes) + position])
    x = b.activation(node.input(0))
    b.emit(Pad(node.name, (x,), (node.outputs[0],), tuple(before), tuple(after), value))
