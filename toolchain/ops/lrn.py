"""Local response normalisation over neighbouring channels, in integers."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    FIRST,
    Array,
    Builder,
    Example,
    Kernel,
    Node,
    Op,
    Target,
    Types,
    Unsupported,
    Writer,
    imports,
    register,
)
from toolchain.ir.fixedpoint import quantize_multiplier, saturate
from toolchain.ops._examples import size
from toolchain.ops._layout import from_nhwc, nhwc_output, to_nhwc

MAX_SIZE = 33_000
"""Channels of a window: the sum of their squares stays below 2**31 (GLUE_MAX_REDUCED)."""
_POWER_BITS = 30
_SEGMENTS = 32
_MAX_SHIFT = 62


@dataclass(frozen=True, slots=True)
class Steps:
    """The integers of one layer.

    power = base + (sum of squares * multiplier >> shift) stands for bias + alpha / size * sum, the
    largest one being 2**30; power**-beta is a factor and a right shift by its leading bit, times
    a fraction by what follows it.
    """

    base: int
    multiplier: int
    shift: int
    factors: Array
    shifts: Array
    fractions: Array


@register
@dataclass(frozen=True, slots=True)
class Lrn(Op):
    """[..., C]: x * (bias + alpha / size * sum of x * x over `size` channels around)**-beta.

    The window of channel c begins at c - (size - 1) // 2; what lies outside counts as 0.
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_lrn_s8", "ops/lrn.c.j2", ("glue_lrn_s8.c",)),
    )
    batches: ClassVar[bool] = True

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    bias: float = 1.0

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the input."""
        return (types[self.x].shape,)

    def _around(self, squares: Array) -> Array:
        """Sums over the windows along the last axis."""
        before, channels = (self.size - 1) // 2, squares.shape[-1]
        ends = np.pad(squares.cumsum(axis=-1), [(0, 0)] * (squares.ndim - 1) + [(1, 0)])
        first = np.arange(channels) - before
        bounds = np.clip([first, first + self.size], 0, channels)
        return np.asarray(ends[..., bounds[1]] - ends[..., bounds[0]])

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """In float64."""
        x = values[0].astype(np.float64)
        power = self.bias + self.alpha / self.size * self._around(x * x)
        return ((x * power**-self.beta).astype(np.float32),)

    def _steps(self, types: Types) -> Steps:
        x, y = types[self.x], types[self.y].q
        gain = self.alpha / self.size * x.q.scale**2
        largest = 255**2 * min(self.size, x.shape[-1])
        unit = (self.bias + gain * largest) / 2**_POWER_BITS
        multiplier, left = quantize_multiplier(gain / unit)
        exponents = log2(x.q.scale / y.scale) - self.beta * (
            log2(unit) + np.arange(_POWER_BITS + 1)
        )
        whole = np.floor(exponents)
        shifts = 30 - whole
        factors = np.minimum(np.rint(2.0 ** (exponents - whole + 30)), 2**31 - 1)
        fractions = np.rint((1 + np.arange(_SEGMENTS + 1) / _SEGMENTS) ** -self.beta * 2.0**30)
        return Steps(
            max(round(self.bias / unit), 1),
            multiplier,
            31 - left,
            np.where(shifts > _MAX_SHIFT, 0, factors).astype(np.int32),
            np.clip(shifts, 1, _MAX_SHIFT).astype(np.int32),
            fractions.astype(np.int32),
        )

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """As glue_lrn_s8: see cmsis_glue/include/glue.h."""
        steps = self._steps(types)
        x = codes[0].astype(np.int64) - types[self.x].q.zero_point
        power = steps.base + (self._around(x * x) * steps.multiplier >> steps.shift)
        leading = np.frexp(power.astype(np.float64))[1].astype(np.int64) - 1
        mantissa = power << (31 - leading)
        place, rest = mantissa >> 26 & 31, mantissa >> 10 & 0xFFFF
        fractions = steps.fractions.astype(np.int64)
        fraction = fractions[place] + ((fractions[place + 1] - fractions[place]) * rest >> 16)
        factor = fraction * steps.factors.astype(np.int64)[leading] >> 30
        shift = steps.shifts.astype(np.int64)[leading]
        scaled = x * factor + (np.int64(1) << (shift - 1)) >> shift
        return (saturate(scaled + types[self.y].q.zero_point),)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Pixels, channels, window and the integers."""
        *outer, channels = types[self.x].shape
        steps = self._steps(types)
        return {
            "pixels": int(np.prod(outer)),
            "channels": channels,
            "before": (self.size - 1) // 2,
            "after": self.size // 2,
            "steps": steps,
        }

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """Factors and shifts by the leading bit, fractions by the bits after it."""
        steps = self._steps(types)
        return {"factors": steps.factors, "shifts": steps.shifts, "fractions": steps.fractions}

    def write(self, w: Writer) -> None:
        """LRN."""
        y = w.node(
            "LRN",
            [w.real(self.x, FIRST)],
            self.y,
            self.name,
            size=self.size,
            alpha=self.alpha,
            beta=self.beta,
            bias=self.bias,
        )
        w.finish(self.y, y, FIRST)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random window and factors, from a weak normalisation to one by the sum alone."""
        op = cls(
            "lrn",
            ("x",),
            ("y",),
            2 * size(rng, 0, 4) + 1,
            float(rng.choice([1e-4, 0.05, 2.0])),
            float(rng.choice([0.5, 0.75, 1.0])),
            float(rng.choice([1.0, 2.0, 0.01])),
        )
        return Example(op, {"x": (1, size(rng, 1, 6), size(rng, 1, 6), size(rng, 1, 24))})


@imports("LRN")
def import_lrn(node: Node, b: Builder) -> None:
    """1-D and 2-D, over windows of an odd number of channels."""
    y, rank = node.outputs[0], len(b.shape(node.input(0)))
    count = int(node.attribute("size", 0))
    alpha, beta, bias = (
        float(node.attribute(name, default))
        for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    if not 1 <= count <= MAX_SIZE or count % 2 == 0:
        raise Unsupported(
            f"LRN over {count} channels", f"odd numbers up to {MAX_SIZE} are, as in ONNX Runtime"
        )
    if min(alpha, beta, bias) <= 0 or beta > 4:
        raise Unsupported(
            f"LRN with alpha {alpha:g}, beta {beta:g} and bias {bias:g}",
            "positive values, and a beta up to 4, are supported",
        )
    x = to_nhwc(b, node, node.input(0))
    name, origin = nhwc_output(b, y, rank)
    b.emit(Lrn(node.name, (x,), (name,), count, alpha, beta, bias), origin)
    from_nhwc(b, node, name, y, rank)
