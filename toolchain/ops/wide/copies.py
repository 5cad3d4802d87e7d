"""Copies of int16 codes: the kernels of int8 codes, which move bytes."""

from dataclasses import dataclass
from typing import ClassVar

from toolchain.ir import Op, register
from toolchain.ops.concat import Concat
from toolchain.ops.pad import Pad
from toolchain.ops.take import Take
from toolchain.ops.transpose import Transpose
from toolchain.ops.wide.twins import Wide, twin_of


@twin_of(Take)
@register
@dataclass(frozen=True, slots=True)
class Int16Take(Wide, Take):
    """As Take, on int16 codes."""

    moves: ClassVar[bool] = True


@twin_of(Transpose)
@register
@dataclass(frozen=True, slots=True)
class Int16Transpose(Wide, Transpose):
    """As Transpose, on int16 codes."""

    moves: ClassVar[bool] = True


@twin_of(Concat)
@register
@dataclass(frozen=True, slots=True)
class Int16Concat(Wide, Concat):
    """As Concat, on int16 codes."""

    moves: ClassVar[bool] = True


@twin_of(Pad)
@register
@dataclass(frozen=True, slots=True)
class Int16Pad(Wide, Pad):
    """As Pad, on int16 codes; with zeros."""

    moves: ClassVar[bool] = True

    @classmethod
    def stands_for(cls, op: Op) -> bool:
        """The kernel fills with one byte."""
        return isinstance(op, Pad) and op.value == 0.0
