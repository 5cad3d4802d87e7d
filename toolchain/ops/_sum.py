"""The arithmetic Add and Sub share: both terms brought to one scale with 20 extra bits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolchain.ir import Array, Op, Types
from toolchain.ir.fixedpoint import (
    activation_codes,
    quantize_multiplier,
    requantize,
    saturate,
)

LEFT_SHIFT = 20


@dataclass(frozen=True, slots=True)
class SumParameters:
    """(multiplier, shift) of the two terms and of the result."""

    first: tuple[int, int]
    second: tuple[int, int]
    result: tuple[int, int]


def sum_parameters(op: Op, types: Types) -> SumParameters:
    """Multipliers as in TensorFlow Lite: terms relative to twice the larger scale."""
    a, b, y = (types[n].q.scale for n in (*op.inputs, op.y))
    twice = 2 * max(a, b)
    return SumParameters(
        quantize_multiplier(a / twice),
        quantize_multiplier(b / twice),
        quantize_multiplier(twice / (2**LEFT_SHIFT * y)),
    )


def simulate_sum(
    op: Op, types: Types, codes: tuple[Array, ...], sign: int, clamp: tuple[int, int]
) -> Array:
    """first + sign * second in integers.

    Args:
        op: Add or Sub.
        types: Types with quantisation.
        codes: int8 operands.
        sign: +1 or -1.
        clamp: Bounds of the output codes.
    """
    p = sum_parameters(op, types)
    terms = []
    for name, code, scale in zip(op.inputs, codes, (p.first, p.second), strict=True):
        centred = code.astype("int64") - types[name].q.zero_point
        terms.append(requantize(centred << LEFT_SHIFT, *scale))
    total = requantize(terms[0] + sign * terms[1], *p.result) + types[op.y].q.zero_point
    return saturate(total, *clamp)


def sum_arguments(op: Op, types: Types, low: float | None, high: float | None) -> Mapping[str, Any]:
    """What the templates of Add and Sub print."""
    p = sum_parameters(op, types)
    return {
        "first": p.first,
        "second": p.second,
        "result": p.result,
        "left_shift": LEFT_SHIFT,
        "clamp": activation_codes(types[op.y].q, low, high),
    }


def sum_output_floor(op: Op, types: Types) -> float:
    """Smallest output scale for which the result's left shift stays in int32."""
    scales = [types[n].q.scale for n in op.inputs if types[n].quant is not None]
    return 2 * max(scales, default=0.0) / 2.0**21
