"""Softmax on int16 codes: the exponentials of int8 codes; output scale 2^-15, zero point 0."""

from dataclasses import dataclass
from typing import ClassVar

from toolchain.ir import Array, DType, Fixed, Kernel, Types, register
from toolchain.ir.fixedpoint import symmetric
from toolchain.ops.softmax import Softmax, integer_softmax
from toolchain.ops.wide.twins import Wide, twin_of


@twin_of(Softmax)
@register
@dataclass(frozen=True, slots=True)
class Int16Softmax(Wide, Softmax):
    """As Softmax, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_softmax_s16", "ops/wide/softmax.c.j2", ("glue_softmax_s16.c",)),
    )

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Integer softmax."""
        return (integer_softmax(codes[0], *self._parameters(types), DType.INT16),)

    def quant_rule(self, _types: Types) -> Fixed:
        """[0, 1) in steps of 2^-15."""
        return Fixed(symmetric(2.0**-15), strict=True)
