"""Sums of int16 codes with the DSP extension and with MVE."""

from collections.abc import Mapping
from typing import Any

from toolchain.board import Isa
from toolchain.ir import Kernel, Site, in_place

_HALF = (1 << 30, 0)


def _terms(site: Site) -> tuple[int, int, tuple[int, int]]:
    """The operand of the larger scale, whose factor is 1/2; the other one, and its factor."""
    arguments = site.op.arguments(site.types)
    if arguments["first"] == _HALF:
        return 0, 1, arguments["second"]
    return 1, 0, arguments["first"]


def same_shapes(site: Site) -> bool:
    """Operands of one shape; the sum is shifted right."""
    arguments = site.op.arguments(site.types)
    loops, (_, shift) = arguments["loops"], arguments["result"]
    together = len(loops.dims) == 1 and loops.a_steps == loops.b_steps == (1,)
    factors = (arguments["first"], arguments["second"])
    return together and shift < 0 and _HALF in factors and min(f[0] for f in factors) > 0


def _facts(site: Site) -> Mapping[str, Any]:
    a, b, term = _terms(site)
    return {"half": _HALF, "a": a, "b": b, "term": term}


def _sum(isa: Isa) -> Kernel:
    name = f"glue_add_s16_{isa}"
    return Kernel(
        name,
        "ops/fast/add_s16.c.j2",
        (f"{name}.c",),
        when=same_shapes,
        overlap=in_place(0, 1),
        isas=frozenset({isa}),
        facts=_facts,
    )


ADD: tuple[Kernel, ...] = (_sum(Isa.MVE), _sum(Isa.DSP))
