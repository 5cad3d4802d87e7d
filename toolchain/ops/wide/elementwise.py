"""Sums and products of int16 tensors that broadcast."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from toolchain.ir import Kernel, Site, in_place, register
from toolchain.ops import fast
from toolchain.ops.add import Add
from toolchain.ops.mul import Mul
from toolchain.ops.sub import Sub
from toolchain.ops.wide.twins import Wide, twin_of


def _sign(site: Site) -> Mapping[str, Any]:
    return {"sign": site.op.sign}


_SUM = Kernel(
    "glue_broadcast_add_s16",
    "ops/wide/add.c.j2",
    ("glue_broadcast_add_s16.c",),
    facts=_sign,
    overlap=in_place(0, 1),
)


@twin_of(Add)
@register
@dataclass(frozen=True, slots=True)
class Int16Add(Wide, Add):
    """As Add, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (*fast.INT16_ADD, _SUM)


@twin_of(Sub)
@register
@dataclass(frozen=True, slots=True)
class Int16Sub(Wide, Sub):
    """As Sub, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (_SUM,)


@twin_of(Mul)
@register
@dataclass(frozen=True, slots=True)
class Int16Mul(Wide, Mul):
    """As Mul, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_broadcast_mul_s16",
            "ops/wide/mul.c.j2",
            ("glue_broadcast_mul_s16.c",),
            overlap=in_place(0, 1),
        ),
    )
