"""Any function of one variable on int16 codes: tables with linear interpolation.

A table of 513 codes covers all inputs in steps of 128 codes; what lies between two entries is
interpolated: TensorFlow Lite's int16 table. A function that bends near zero in few of those steps
gets a second one over the middle, in steps of 1 to 64 codes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import (
    Array,
    Fixed,
    Kernel,
    Quant,
    QuantRule,
    Target,
    Types,
    in_place,
    register,
)
from toolchain.ir.fixedpoint import symmetric
from toolchain.ops.unary import Expression, Unary, evaluate_expression
from toolchain.ops.wide.twins import Wide, twin_of

STEPS = 512
"""Entries of a table, less one."""
WHOLE = 7
"""log2 of the step of the table over all codes."""
_ENOUGH = 1.0
"""Error in output steps up to which one table will do."""

_LOW, _HIGH = -(2**15), 2**15 - 1
_FIXED = {"sigmoid": symmetric(2.0**-15), "tanh": symmetric(2.0**-15)}

Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables one after the other, int16, and log2 of the step of the second; WHOLE: none."""

    codes: NDArray[np.int16]
    shift: int


def interpolate(tables: Tables, codes: Array) -> Array:
    """What glue_lookup_s16 gives for int16 codes."""
    x, whole = codes.astype(np.int64), tables.codes.astype(np.int64)
    result = _between(whole[: STEPS + 1], x, WHOLE)
    if tables.shift < WHOLE:
        reach = (STEPS // 2) << tables.shift
        inner = (x >= -reach) & (x < reach)
        fine = _between(whole[STEPS + 1 :], np.where(inner, x, 0), tables.shift)
        result = np.where(inner, fine, result)
    return np.asarray(result, np.int16)


def _between(table: Int, x: Int, shift: int) -> Int:
    index = (x >> shift) + STEPS // 2
    slope = table[index + 1] - table[index]
    offset = x & ((1 << shift) - 1)
    return np.asarray(table[index] + ((slope * offset + ((1 << shift) >> 1)) >> shift))


@lru_cache(maxsize=64)
def make_tables(expression: Expression, x: Quant, y: Quant) -> Tables:
    """The tables of least error over all inputs, one where that is as good as exact.

    Args:
        expression: The function.
        x: Input parameters.
        y: Output parameters.
    """
    every = np.arange(_LOW, _HIGH + 2)
    with np.errstate(over="ignore"):
        exact = np.clip(_real(expression, every * x.scale) / y.scale, _LOW, _HIGH)

    def entries(shift: int) -> NDArray[np.int16]:
        places = np.arange(-STEPS // 2, STEPS // 2 + 1) << shift
        at = exact[places - _LOW]
        codes = np.trunc(at + np.copysign(0.5, at)).clip(_LOW, _HIGH)
        return np.asarray(codes, np.int16)

    def error(tables: Tables) -> float:
        found = interpolate(tables, every[:-1].astype(np.int16))
        return float(np.abs(found - exact[:-1]).max())

    coarse = entries(WHOLE)
    one = Tables(coarse, WHOLE)
    if error(one) <= _ENOUGH:
        return one
    pairs = [Tables(np.concatenate([coarse, entries(s)]), s) for s in range(WHOLE)]
    errors = [error(pair) for pair in pairs]
    return pairs[int(np.argmin(errors))]


def _real(expression: Expression, x: Array) -> Array:
    """Values of the function; where it is not defined, as at the nearest place where it is."""
    values = np.array(np.broadcast_to(evaluate_expression(expression, x), x.shape), np.float64)
    defined = np.flatnonzero(~np.isnan(values))
    if not defined.size:
        return np.zeros(x.shape)
    after = np.searchsorted(defined, np.arange(x.size)).clip(0, defined.size - 1)
    before = (after - 1).clip(0)
    places = np.arange(x.size)
    nearer = np.abs(defined[before] - places) <= np.abs(defined[after] - places)
    return np.asarray(values[np.where(nearer, defined[before], defined[after])])


@twin_of(Unary)
@register
@dataclass(frozen=True, slots=True)
class Int16Unary(Wide, Unary):
    """As Unary, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_lookup_s16", "ops/wide/unary.c.j2", ("glue_lookup_s16.c",), overlap=in_place(0)
        ),
    )

    def _tables(self, types: Types) -> Tables:
        return make_tables(self.expression, types[self.x].q, types[self.y].q)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """A look-up and an interpolation per element."""
        return (interpolate(self._tables(types), codes[0]),)

    def derived_range(self, types: Types) -> tuple[float, float]:
        """Extremes of the function over all codes, poles left out."""
        x = types[self.x].q
        values = _real(self.expression, np.arange(_LOW, _HIGH + 1) * x.scale)
        finite = values[np.isfinite(values)]
        return float(finite.min(initial=0.0)), float(finite.max(initial=0.0))

    def quant_rule(self, types: Types) -> QuantRule:
        """Sigmoid and tanh have the ranges of their functions."""
        quant = _FIXED.get(self.expression[0])
        return Fixed(quant) if quant is not None else Unary.quant_rule(self, types)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Step of the second table."""
        return {"shift": self._tables(types).shift}

    def answers(self, types: Types) -> Array:
        """Output code of every input code, int16 [65536]."""
        return interpolate(self._tables(types), np.arange(_LOW, _HIGH + 1))

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """One or two tables."""
        return {"table": self._tables(types).codes}
