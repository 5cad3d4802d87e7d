"""PRelu: negative values times a slope of their own."""

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
    Writer,
    imports,
    in_place,
    register,
)
from toolchain.ir.fixedpoint import quantize_multiplier, requantize, saturate
from toolchain.ops._binary import emit_tensors, lower_operands, of_one_rank, operand_quant
from toolchain.ops._broadcast import broadcast_shape, loops
from toolchain.ops._examples import size
from toolchain.ops.elementary import single_value
from toolchain.ops.unary import emit_unary

Factor = tuple[int, int]


@register
@dataclass(frozen=True, slots=True)
class PRelu(Op):
    """Inputs x and slope of one rank, the slope broadcast to x; x >= 0 ? x : x * slope."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_prelu_s8", "ops/prelu.c.j2", ("glue_prelu_s8.c",), overlap=in_place(0)),
    )
    batches: ClassVar[bool] = True
    is_elementwise: ClassVar[bool] = True

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the first input."""
        shape = types[self.x].shape
        if broadcast_shape(self, types) != shape:
            raise ValueError(f"a slope {types[self.inputs[1]].shape} of a tensor {shape}")
        return (shape,)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The function."""
        x, slope = values
        return (np.where(x < 0, x * slope, x).astype(np.float32),)

    def _factors(self, types: Types) -> tuple[Factor, Factor]:
        """(multiplier, shift) of values and of products, as in TensorFlow Lite."""
        x, slope, y = (types[n].q.scale for n in (*self.inputs, self.y))
        return quantize_multiplier(x / y), quantize_multiplier(x * slope / y)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Centred value, or its product with the centred slope, requantised."""
        x, slope = (
            code.astype(np.int64) - types[n].q.zero_point
            for n, code in zip(self.inputs, codes, strict=True)
        )
        positive, negative = self._factors(types)
        scaled = np.where(
            x >= 0,
            requantize(x, *positive, self.rounding),
            requantize(x * slope, *negative, self.rounding),
        )
        return (saturate(scaled + types[self.y].q.zero_point),)

    def output_floor(self, types: Types, constants: Constants) -> float:
        """Smallest output scale whose arithmetic stays in int32."""
        x, slope = (operand_quant(self, n, types, constants).scale for n in self.inputs)
        return max(x / 2.0**21, x * slope / 2.0**13)

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """The slope as int8 codes."""
        return lower_operands(self, types, constants)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Requantisation and loops."""
        positive, negative = self._factors(types)
        return {"positive": positive, "negative": negative, "loops": loops(self, types)}

    def write(self, w: Writer) -> None:
        """PRelu."""
        operands, perm = w.operands(self)
        w.finish(self.y, w.node("PRelu", operands, self.y, self.name), perm)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """A map with a slope per channel, per row, per element or for all."""
        shape = (1, *(size(rng, 1, 7) for _ in range(int(rng.integers(1, 4)))))
        whole = tuple(n if rng.random() < 0.6 else 1 for n in shape)
        slope = rng.normal(0.2, 0.2, whole).astype(np.float32)
        return Example(cls("prelu", ("x", "slope"), ("y",)), {"x": shape}, {"slope": slope})


@imports("PRelu")
def import_prelu(node: Node, b: Builder) -> None:
    """A slope that broadcasts to x, or an old one [C]; one number for all of x is one table."""
    x, slope = node.input(0), b.value(node.input(1))
    shape = b.shape(x)
    if len(b.shape(node.input(1))) > len(shape):
        raise Unsupported(f"a slope {b.shape(node.input(1))} of a tensor {shape}")
    if slope is not None:
        one = single_value(slope, shape)
        if one is not None:
            emit_unary(node, b, x, ("leaky_relu", ("x",), ("const", one)))
            return
        if slope.shape == shape[1:2] and slope.shape != shape[-1:]:
            # how opsets before 7 wrote one slope per channel; as a broadcast it means nothing
            name = b.fresh(f"{node.input(1)}.columns")
            b.known[name] = slope.reshape(-1, *(1,) * (len(shape) - 2))
            node = replace(node, inputs=(x, name))
    emit_tensors(of_one_rank(node, b), b, PRelu)
