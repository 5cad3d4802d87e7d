"""Concatenation along one axis; the inputs are at the output's scale (R5)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    HEIGHT,
    Array,
    Builder,
    Constants,
    Example,
    Kernel,
    Lowered,
    Node,
    Op,
    RowCall,
    Types,
    Writer,
    imports,
    register,
)
from toolchain.ir.fixedpoint import dequantize, quantize_as
from toolchain.ops._axes import axis_of
from toolchain.ops._examples import size


@register
@dataclass(frozen=True, slots=True)
class Concat(Op):
    """Inputs that agree but for `axis`, one after the other; quantisation makes scales equal."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_copy_blocks_s8", "ops/concat.c.j2", ("glue_copy_blocks_s8.c",)),
    )

    needs_equal_scales: ClassVar[bool] = True

    axis: int

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """Sizes add up along the axis."""
        shapes = [types[x].shape for x in self.inputs]
        if len({(*s[: self.axis], *s[self.axis + 1 :]) for s in shapes}) > 1:
            raise ValueError(f"shapes {shapes} differ in more than axis {self.axis}")
        total = sum(shape[self.axis] for shape in shapes)
        return ((*shapes[0][: self.axis], total, *shapes[0][self.axis + 1 :]),)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Concatenated values."""
        return (np.concatenate(values, self.axis),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:  # noqa: ARG002
        """Concatenated codes."""
        return (np.concatenate(codes, self.axis),)

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """Constant operands as codes at the output's scale."""
        names = {x: f"{self.y}.{x}" for x in self.inputs if x in constants}
        added = {}
        for x, name in names.items():
            kind = types[self.y].with_shape(types[x].shape)
            added[name] = quantize_as(constants[x], kind), kind
        return Lowered(self.renamed(names), added)

    def permuted(self, perm: tuple[int, ...]) -> "Concat":
        """The same with the axis where the permutation took it from."""
        return replace(self, axis=perm[self.axis])

    def derived_range(self, types: Types) -> tuple[float, float]:
        """What covers the ranges of all inputs."""
        ends = [dequantize(types[x].dtype.limits, types[x].q) for x in self.inputs]
        return float(min(e[0] for e in ends)), float(max(e[1] for e in ends))

    def row(self, types: Types, constants: Constants, row: int, count: int = 1) -> RowCall | None:
        """From the same row of every input, along the width or the channels."""
        return self._same_row(types, constants, row, count) if self.axis > HEIGHT else None

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Blocks per input: how many, their bytes, and where they start in an output block."""
        shape, each = types[self.y].shape, types[self.y].dtype.nbytes
        blocks = [prod(types[x].shape[self.axis :]) * each for x in self.inputs]
        return {
            "rows": prod(shape[: self.axis]),
            "blocks": blocks,
            "starts": [sum(blocks[:i]) for i in range(len(blocks))],
            "stride": prod(shape[self.axis :]) * each,
        }

    def write(self, w: Writer) -> None:
        """Concat."""
        operands, perm = w.operands(self)
        y = w.node("Concat", operands, self.y, self.name, axis=perm.index(self.axis))
        w.finish(self.y, y, perm)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Two or three maps."""
        axis, shape = int(rng.integers(1, 4)), [1, size(rng), size(rng), size(rng)]
        names = tuple("abc"[: int(rng.integers(2, 4))])
        shapes = {}
        for name in names:
            shape[axis] = size(rng)
            shapes[name] = tuple(shape)
        return Example(cls("concat", names, ("y",), axis), shapes)


@imports("Concat")
def import_concat(node: Node, b: Builder) -> None:
    """Along any axis."""
    names = tuple(b.activation(x) for x in node.inputs if x)
    axis = axis_of(node.attribute("axis", 1), len(b.shape(names[0])))
    b.emit(Concat(node.name, names, (node.outputs[0],), axis))
