"""Softmax over the last axis: integer exponentials, output scale 1/256, zero point -128 (R7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import (
    Array,
    Builder,
    DType,
    Example,
    Fixed,
    Kernel,
    Node,
    Op,
    Quant,
    Site,
    Types,
    Writer,
    imports,
    register,
)
from toolchain.ir.fixedpoint import quantize_multiplier, rounding_right_shift
from toolchain.ops._arm_limits import SOFTMAX_ROW
from toolchain.ops._examples import size
from toolchain.ops._layout import along_last_axis

Int = NDArray[np.int64]

_INTEGER_BITS = 5
_ACCUMULATION_BITS = 12
_Q31_MAX = 2**31 - 1
_LARGEST_FACTOR = 2.0**30 - 1
"""Input scales from 16 on count as 16: one step is then exp(-16) all the same, less than a code."""
_EXP_STEPS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-2**k) in Q31 for k = -2 .. 4."""


def _high_multiply(a: Int, b: Int | int) -> Int:
    """Saturating rounding doubling high multiply, ties away from zero (gemmlowp)."""
    product = a * b
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    return np.where(nudged >= 0, nudged >> 31, -((-nudged) >> 31))


def _exp_on_negative(value: Int) -> Int:
    """exp(value) in Q31 of a Q5.26 value <= 0, as gemmlowp defines it."""
    quarter = 1 << 24
    modulo = (value & (quarter - 1)) - quarter
    remainder = modulo - value
    x = (modulo << _INTEGER_BITS) + (1 << 28)
    x2 = _high_multiply(x, x)
    x3, x4 = _high_multiply(x2, x), _high_multiply(x2, x2)
    quartic = rounding_right_shift(x4, 2)
    tail = rounding_right_shift(_high_multiply(quartic + x3, 715827883) + x2, 1)
    result = 1895147668 + _high_multiply(x + tail, 1895147668)
    for bit, factor in enumerate(_EXP_STEPS, start=24):
        result = np.where(remainder & (1 << bit), _high_multiply(result, factor), result)
    return np.where(value == 0, _Q31_MAX, result)


def _one_over_one_plus(value: Int) -> Int:
    """1 / (1 + value) in Q31 for a Q31 value in [0, 1), three Newton steps."""
    total = value + _Q31_MAX
    half = np.where(total >= 0, (total + 1) >> 1, -((1 - total) >> 1))
    x = 1515870810 + _high_multiply(half, -1010580540)
    for _ in range(3):
        x = x + (_high_multiply(x, (1 << 29) - _high_multiply(half, x)) << 2)
    return x << 1


def integer_softmax(
    codes: Array, multiplier: int, shift: int, diff_min: int, dtype: DType = DType.INT8
) -> Array:
    """Softmax over the last axis, as arm_softmax_s8; of int16 codes in steps of 2^-15 from 0."""
    x = codes.astype(np.int64)
    diff = x - x.max(axis=-1, keepdims=True)
    used = diff >= diff_min
    scaled = _high_multiply(np.where(used, diff, 0) << shift, multiplier)
    exponential = _exp_on_negative(scaled)
    terms = np.where(used, rounding_right_shift(exponential, _ACCUMULATION_BITS), 0)
    total = terms.sum(axis=-1, keepdims=True)
    headroom = 32 - np.vectorize(int.bit_length, otypes=[np.int64])(total.astype(object))
    scale = _one_over_one_plus((total << headroom) - (1 << 31))
    low, high, one = (-128, 127, 8) if dtype is DType.INT8 else (0, 2**15 - 1, 15)
    bits = _ACCUMULATION_BITS - headroom + 31 - one
    result = rounding_right_shift(_high_multiply(scale, exponential), bits) + low
    return np.where(used, np.clip(result, low, high), low).astype(dtype.value)


def _arm_is_right(site: Site) -> bool:
    """Arm's library is not known to be wrong on rows of this length."""
    return not (site.target.arm_library and site.shape(site.op.x)[-1] >= SOFTMAX_ROW)


@register
@dataclass(frozen=True, slots=True)
class Softmax(Op):
    """[..., K]: exp(x) / sum(exp(x)) over the last axis."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("arm_softmax_s8", "ops/softmax.c.j2", ("arm_softmax_s8.c",), when=_arm_is_right),
        Kernel("glue_softmax_s8", "ops/softmax.c.j2", ("glue_softmax_s8.c",)),
    )
    batches: ClassVar[bool] = True

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the input."""
        return (types[self.x].shape,)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Softmax in float64."""
        x = values[0].astype(np.float64)
        powers = np.exp(x - x.max(axis=-1, keepdims=True))
        return ((powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32),)

    def _parameters(self, types: Types) -> tuple[int, int, int]:
        real = min(types[self.x].q.scale * 2.0 ** (31 - _INTEGER_BITS), _LARGEST_FACTOR)
        multiplier, shift = quantize_multiplier(max(real, 1.0))
        radius = ((1 << _INTEGER_BITS) - 1) * 2.0 ** (31 - _INTEGER_BITS) / 2.0**shift
        return multiplier, shift, -floor(radius)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Integer softmax."""
        return (integer_softmax(codes[0], *self._parameters(types)),)

    def quant_rule(self, _types: Types) -> Fixed:
        """[0, 1) in steps of 1/256."""
        return Fixed(Quant((1.0 / 256,), -128), strict=True)

    def permuted(self, perm: tuple[int, ...]) -> "Softmax | None":
        """Itself when the last axis stays the last."""
        return self if perm[-1] == len(perm) - 1 else None

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Rows, row size and the parameters of the integer exponential."""
        shape = types[self.x].shape
        multiplier, shift, diff_min = self._parameters(types)
        return {
            "rows": prod(shape[:-1]),
            "row_size": shape[-1],
            "multiplier": multiplier,
            "shift": shift,
            "diff_min": diff_min,
        }

    def write(self, w: Writer) -> None:
        """Softmax."""
        w.finish(self.y, w.node("Softmax", [w.real(self.x)], self.y, self.name, axis=-1))

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Rows of random length."""
        return Example(cls("softmax", ("x",), ("y",)), {"x": (1, size(rng), size(rng, 1, 40))})


@imports("Softmax")
def import_softmax(node: Node, b: Builder) -> None:
    """Any axis; before opset 13 everything from the axis on is one row."""
    along_last_axis(node, b, lambda x, y: Softmax(node.name, (x,), (y,)))
