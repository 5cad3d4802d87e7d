"""The arithmetic of sums: all terms brought to one scale with 20 extra bits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import Array, Constants, DType, Lowered, Op, Types
from toolchain.ir.fixedpoint import (
    clamp_codes,
    clip,
    quantize_multiplier,
    requantize,
    saturate,
)
from toolchain.ops._binary import lower_operands, operand_quant
from toolchain.ops._broadcast import broadcast_shape, loops

LEFT_SHIFT = 20
LEFT_SHIFT_16 = 15
"""Extra bits of int16 terms."""

Factor = tuple[int, int]
"""(multiplier, shift)"""


@dataclass(frozen=True, slots=True)
class SumParameters:
    """Factors of the terms and of the result."""

    terms: tuple[Factor, ...]
    result: Factor


def common_scale(scales: Sequence[float]) -> float:
    """What terms are divided by: at most 1 / count each, so that their sum stays in range."""
    return float(max(scales) * 2 ** (len(scales) - 1).bit_length())


def left_shift(op: Op) -> int:
    """Extra bits of the terms."""
    return LEFT_SHIFT if op.reads is DType.INT8 else LEFT_SHIFT_16


def sum_parameters(op: Op, types: Types, gain: float = 1.0) -> SumParameters:
    """Factors as in TensorFlow Lite: two terms relative to twice the larger scale."""
    scales = [types[x].q.scale for x in op.inputs]
    unit = common_scale(scales)
    return SumParameters(
        tuple(quantize_multiplier(scale / unit) for scale in scales),
        quantize_multiplier(gain * unit / (2 ** left_shift(op) * types[op.y].q.scale)),
    )


def simulate_sum(
    op: Op,
    types: Types,
    codes: Sequence[Array],
    signs: Sequence[int],
    clamp: tuple[int, int],
    gain: float = 1.0,
) -> Array:
    """The sum of signed terms, times gain, in integers.

    Args:
        op: Add, Sub or Sum.
        types: Types with quantisation.
        codes: Operands.
        signs: +1 or -1 for each.
        clamp: Bounds of the output codes.
        gain: Factor of the sum.
    """
    p = sum_parameters(op, types, gain)
    total = np.zeros((), np.int64)
    for name, code, factor, sign in zip(op.inputs, codes, p.terms, signs, strict=True):
        centred = code.astype(np.int64) - types[name].q.zero_point
        total = total + sign * requantize(centred << left_shift(op), *factor, op.rounding)
    scaled = requantize(total, *p.result, op.rounding)
    return saturate(scaled + types[op.y].q.zero_point, *clamp, op.writes)


def sum_arguments(op: Op, types: Types, low: float | None, high: float | None) -> Mapping[str, Any]:
    """What the templates of Add and Sub print."""
    p = sum_parameters(op, types)
    return {
        "first": p.terms[0],
        "second": p.terms[1],
        "result": p.result,
        "left_shift": left_shift(op),
        "clamp": clamp_codes(types[op.y], low, high),
        "loops": loops(op, types),
    }


def sum_output_floor(op: Op, types: Types, constants: Constants, gain: float = 1.0) -> float:
    """Smallest output scale for which the result's left shift stays in int32."""
    scales = [operand_quant(op, x, types, constants).scale for x in op.inputs]
    # terms of 28 bits and one to the left, or of 30 bits
    least = 2.0 ** -(LEFT_SHIFT + 1) if op.reads is DType.INT8 else 2.0 ** (1 - LEFT_SHIFT_16)
    return gain * common_scale(scales) * least


class SumOp(Op):
    """Inputs a and b of one rank that broadcast; output a + sign * b, clipped to [low, high].

    A subclass is a dataclass with the fields low and high (None: open).
    """

    __slots__ = ()

    has_activation: ClassVar[bool] = True
    is_elementwise: ClassVar[bool] = True
    sign: ClassVar[int] = 1

    low: float | None
    high: float | None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """The broadcast shape."""
        return (broadcast_shape(self, types),)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """a + sign * b, clipped."""
        total = values[0].astype(np.float64) + self.sign * values[1].astype(np.float64)
        return (clip(total, self.low, self.high).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Both terms at one scale, combined, requantised, clamped."""
        clamp = clamp_codes(types[self.y], self.low, self.high)
        return (simulate_sum(self, types, codes, (1, self.sign), clamp),)

    def output_floor(self, types: Types, constants: Constants) -> float:
        """Smallest output scale whose arithmetic stays in int32."""
        return sum_output_floor(self, types, constants)

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """A constant operand as int8 codes."""
        return lower_operands(self, types, constants)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Requantisation, clamp and loops."""
        return sum_arguments(self, types, self.low, self.high)
