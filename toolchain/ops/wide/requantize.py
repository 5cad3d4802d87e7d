"""Requantize: codes at another scale or of another type; the border between int8 and int16."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    FREE,
    Array,
    Constants,
    DType,
    Example,
    Fixed,
    Kernel,
    Op,
    QuantRule,
    Site,
    Types,
    Writer,
    register,
)
from toolchain.ir.fixedpoint import dequantize, quantize_multiplier, requantize, saturate, symmetric
from toolchain.ops._examples import size

GAIN = 7
"""int8 codes less their zero point have 9 bits; times 2^7 they fill int16."""


def _overlap(site: Site) -> Mapping[int, int]:
    """Where codes grow, the output begins before the input by as much as it is longer."""
    x, y = (site.types[n].nbytes for n in (site.op.x, site.op.y))
    return {0: max(y - x, 0)}


def _narrow(site: Site) -> bool:
    """From int16 to int8 codes."""
    return site.op.writes is DType.INT8


def _widen(site: Site) -> bool:
    """From int8 to int16 codes."""
    return site.op.reads is DType.INT8


def _rescale(site: Site) -> bool:
    """From int16 to int16 codes."""
    return not (_narrow(site) or _widen(site))


@register
@dataclass(frozen=True, slots=True)
class Requantize(Op):
    """The same values as codes of type `target`; x has codes of type `source`.

    At least one of them is int16. From int8 to int16 nothing is lost: the scale is 2^-7 of the
    input's.
    """

    kernels: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel(name, "ops/wide/requantize.c.j2", (f"{name}.c",), when=when, overlap=_overlap)
        for name, when in (
            ("glue_requantize_s16_s8", _narrow),
            ("glue_requantize_s8_s16", _widen),
            ("glue_requantize_s16", _rescale),
        )
    )
    batches: ClassVar[bool] = True
    is_elementwise: ClassVar[bool] = True

    source: DType
    target: DType

    @property
    def reads(self) -> DType:
        """Codes of the source type."""
        return self.source

    @property
    def writes(self) -> DType:
        """Codes of the target type."""
        return self.target

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the input."""
        return (types[self.x].shape,)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The same values."""
        return (values[0],)

    def _multiplier(self, types: Types) -> tuple[int, int]:
        return quantize_multiplier(types[self.x].q.scale / types[self.y].q.scale)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Centred codes, requantised, saturated."""
        x, y = (types[n].q for n in (self.x, self.y))
        centred = codes[0].astype(np.int64) - x.zero_point
        scaled = requantize(centred, *self._multiplier(types), self.rounding) + y.zero_point
        return (saturate(scaled, *self.target.limits, self.target),)

    def quant_rule(self, types: Types) -> QuantRule:
        """To int16: every code of the input has one. To int8: a scale of its own."""
        if self.source is DType.INT16:
            return FREE
        known = types[self.x].quant
        return Fixed(symmetric((1.0 if known is None else known.scale) / 2.0**GAIN))

    def derived_range(self, types: Types) -> tuple[float, float]:
        """What the input can hold."""
        low, high = dequantize(self.source.limits, types[self.x].q)
        return float(low), float(high)

    def output_floor(self, types: Types, constants: Constants) -> float:  # noqa: ARG002
        """Smallest output scale for which centred codes, shifted left, stay in int32."""
        return types[self.x].q.scale / 2.0**14

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Multiplier and shift."""
        return {"result": self._multiplier(types)}

    def write(self, w: Writer) -> None:
        """QuantizeLinear at the new scale."""
        perm = w.layout(self.x)
        w.finish(self.y, w.real(self.x, perm), perm)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """A border in either direction, or another scale."""
        pairs = [
            (DType.INT8, DType.INT16), (DType.INT16, DType.INT8), (DType.INT16, DType.INT16),
        ]  # fmt: skip
        source, target = pairs[int(rng.integers(len(pairs)))]
        shape = (1, size(rng), size(rng, 1, 30))
        return Example(cls("requantize", ("x",), ("y",), source, target), {"x": shape})
