"""Pools over int16 codes."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from toolchain.ir import Constants, Kernel, Op, Types, register
from toolchain.ops._diagonal import Reads, twice, window_overlap
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.max_pool import MaxPool
from toolchain.ops.wide.twins import Wide, twin_of

_OVERLAP = twice(window_overlap(Reads.OWN_CHANNEL))
_MOST_TAPS = 2**15
"""Their sum, shifted left once, stays in 32 bits."""


@twin_of(MaxPool)
@register
@dataclass(frozen=True, slots=True)
class Int16MaxPool(Wide, MaxPool):
    """As MaxPool, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_max_pool_s16",
            "ops/wide/max_pool.c.j2",
            ("glue_max_pool_s16.c",),
            overlap=_OVERLAP,
        ),
    )
    moves: ClassVar[bool] = True


@twin_of(AveragePool)
@register
@dataclass(frozen=True, slots=True)
class Int16AveragePool(Wide, AveragePool):
    """As AveragePool with an output scale of its own, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_avgpool_s16",
            "ops/wide/average_pool.c.j2",
            ("glue_avgpool_s16.c",),
            overlap=_OVERLAP,
        ),
    )

    @classmethod
    def stands_for(cls, op: Op) -> bool:
        """As far as sums fit 32 bits."""
        return isinstance(op, AveragePool) and prod(op.window.kernel) <= _MOST_TAPS

    def output_floor(self, types: Types, constants: Constants) -> float:  # noqa: ARG002
        """Smallest output scale whose sums, shifted left, stay in int32."""
        return types[self.x].q.scale / 2.0**14
