"""LogSoftmax over the last axis, in integers: a table of exponentials and a bit-wise logarithm."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, prod
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Example,
    Kernel,
    Node,
    Op,
    Target,
    Types,
    Writer,
    imports,
    in_place,
    register,
)
from toolchain.ops._examples import size
from toolchain.ops._layout import along_last_axis

_LOG_BITS = 16


def _log2(total: int) -> int:
    """log2(total / 2**30) with 16 fractional bits, truncated; total >= 2**30."""
    exponent = total.bit_length() - 1
    mantissa = total >> (exponent - 31) if exponent > 31 else total << (31 - exponent)
    result = exponent - 30
    for _ in range(_LOG_BITS):
        mantissa = mantissa * mantissa >> 31
        carry = mantissa >> 32
        mantissa >>= carry
        result = 2 * result + carry
    return result


@register
@dataclass(frozen=True, slots=True)
class LogSoftmax(Op):
    """[..., K]: x - log(sum(exp(x))) over the last axis."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_log_softmax_s8",
            "ops/log_softmax.c.j2",
            ("glue_log_softmax_s8.c",),
            overlap=in_place(0),
        ),
    )
    batches: ClassVar[bool] = True

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the input."""
        return (types[self.x].shape,)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """LogSoftmax in float64."""
        x = values[0].astype(np.float64)
        centred = x - x.max(axis=-1, keepdims=True)
        total = np.exp(centred).sum(axis=-1, keepdims=True)
        return ((centred - np.log(total)).astype(np.float32),)

    def derived_range(self, types: Types) -> tuple[float, float]:
        """From the largest distance of two codes and equal scores, to 0."""
        x = types[self.x]
        return -(255.0 * x.q.scale + log(x.shape[-1])), 0.0

    def _multipliers(self, types: Types) -> tuple[int, int, int]:
        """(diff multiplier, log multiplier, shift): the largest shift that keeps both in int32."""
        x, y = types[self.x].q.scale, types[self.y].q.scale
        steps = min(x / y, 256.0)  # from there on one step of the input is below every output code
        factors = (steps, log(2) / (2**_LOG_BITS * y))
        shift = next(s for s in range(46, 0, -1) if max(factors) * 2**s < 2**31 - 1)
        diff, logarithm = (round(f * 2**shift) for f in factors)
        return diff, logarithm, shift

    def _exponentials(self, types: Types) -> Array:
        steps = np.arange(256) * np.float64(types[self.x].q.scale)
        return np.rint(2.0**30 * np.exp(-steps)).astype(np.uint32)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """As glue_log_softmax_s8: see cmsis_glue/include/glue.h."""
        table = self._exponentials(types).astype(np.int64)
        diff, logarithm, shift = self._multipliers(types)
        x = codes[0].astype(np.int64)
        distance = x.max(axis=-1, keepdims=True) - x
        totals = table[distance].sum(axis=-1, keepdims=True)
        logs = np.vectorize(_log2, otypes=[np.int64])(totals.astype(object))
        steps = (distance * diff + logs * logarithm + (1 << (shift - 1))) >> shift
        result = types[self.y].q.zero_point - np.minimum(steps, 255)
        return (np.clip(result, -128, 127).astype(np.int8),)

    def permuted(self, perm: tuple[int, ...]) -> "LogSoftmax | None":
        """Itself when the last axis stays the last."""
        return self if perm[-1] == len(perm) - 1 else None

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Rows, row size, fixed-point factors."""
        shape = types[self.x].shape
        diff, logarithm, shift = self._multipliers(types)
        return {
            "rows": prod(shape[:-1]),
            "row_size": shape[-1],
            "diff_multiplier": diff,
            "log_multiplier": logarithm,
            "shift": shift,
        }

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """exp(-d * scale) in units of 2**-30."""
        return {"exponential": self._exponentials(types)}

    def write(self, w: Writer) -> None:
        """LogSoftmax."""
        w.finish(self.y, w.node("LogSoftmax", [w.real(self.x)], self.y, self.name, axis=-1))

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Rows of random length."""
        shape = (1, size(rng), size(rng, 1, 40))
        return Example(cls("log_softmax", ("x",), ("y",)), {"x": shape})


@imports("LogSoftmax")
def import_log_softmax(node: Node, b: Builder) -> None:
    """Any axis; before opset 13 everything from the axis on is one row."""
    along_last_axis(node, b, lambda x, y: LogSoftmax(node.name, (x,), (y,)))
