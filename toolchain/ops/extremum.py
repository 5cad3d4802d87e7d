"""Maximum and minimum of tensors of one shape; all are at the output's scale (R5)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
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
from toolchain.ir.fixedpoint import dequantize, quantize
from toolchain.ops._examples import size
from toolchain.ops._many import joined_constants, of_one_shape
from toolchain.ops.elementary import single_value
from toolchain.ops.reshape import Reshape
from toolchain.ops.unary import emit_unary


@register
@dataclass(frozen=True, slots=True)
class Extremum(Op):
    """The largest, or smallest, of two or more inputs; quantisation makes scales equal."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_extreme_s8", "ops/extremum.c.j2", ("glue_extreme_s8.c",), overlap=in_place(0, 1)
        ),
    )
    is_elementwise: ClassVar[bool] = True
    needs_equal_scales: ClassVar[bool] = True

    largest: bool

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the inputs."""
        if len({types[x].shape for x in self.inputs}) > 1 or len(self.inputs) < 2:
            raise ValueError("operands of different shapes, or only one")
        return (types[self.x].shape,)

    def _chosen(self, values: tuple[Array, ...]) -> tuple[Array, ...]:
        return (reduce(np.maximum if self.largest else np.minimum, values),)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Largest or smallest values."""
        return self._chosen(values)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:  # noqa: ARG002
        """Largest or smallest codes."""
        return self._chosen(codes)

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """Constant operands as codes at the output's scale."""
        quant = types[self.y].q
        names = {x: f"{self.y}.operand{i}" for i, x in enumerate(self.inputs) if x in constants}
        added = {
            name: (
                quantize(constants[x], quant),
                replace(types[x], dtype=DType.INT8, quant=quant),
            )
            for x, name in names.items()
        }
        return Lowered(self.renamed(names), added)

    def derived_range(self, types: Types) -> tuple[float, float]:
        """What covers the ranges of all inputs."""
        ends = [dequantize([-128, 127], types[x].q) for x in self.inputs]
        return float(min(e[0] for e in ends)), float(max(e[1] for e in ends))

    def arguments(self, types: Types) -> Mapping[str, Any]:  # noqa: ARG002
        """Which of the two."""
        return {"largest": int(self.largest)}

    def write(self, w: Writer) -> None:
        """Max or Min."""
        operands, perm = w.operands(self)
        w.finish(
            self.y, w.node("Max" if self.largest else "Min", operands, self.y, self.name), perm
        )

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Two to four maps."""
        shape = (1, size(rng), size(rng), size(rng, 1, 20))
        names = tuple("abcd"[: size(rng, 2, 4)])
        op = cls("extremum", names, ("y",), bool(rng.integers(2)))
        return Example(op, dict.fromkeys(names, shape))


@imports("Max", "Min")
def import_extremum(node: Node, b: Builder) -> None:
    """Any number of tensors that broadcast; with a constant number it is a clip."""
    largest = node.op_type == "Max"
    activations, constant = joined_constants(node, b, np.maximum if largest else np.minimum)
    x, y = activations[0], node.outputs[0]
    number = None if constant is None else single_value(constant, b.shape(x))
    if len(activations) == 1 and number is not None:
        emit_unary(node, b, x, ("max" if largest else "min", ("x",), ("const", number)))
        return
    operands = of_one_shape(node, b, activations, constant)
    if len(operands) == 1:
        b.emit(Reshape(node.name, (x,), (y,), b.shape(x)))
    else:
        b.emit(Extremum(node.name, operands, (y,), largest))
