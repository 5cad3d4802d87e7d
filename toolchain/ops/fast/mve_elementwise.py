"""Element-wise kernels and pools with MVE (Cortex-M55, M85)."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from toolchain.board import Isa
from toolchain.ir import Kernel, Site, in_place
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops.fast.epilogue import rounds_once

_MVE = frozenset({Isa.MVE})
_HALF = (1 << 30, 0)
_LONGEST_MEAN = 4095
_ROWS = 2
"""Loops of an operation in rows."""


def _in_rows(site: Site) -> bool:
    """Both operands have the same shape, or one repeats as a whole along the other's first axes."""
    loops = site.op.arguments(site.types)["loops"]
    return len(loops.dims) <= _ROWS and loops.a_steps[-1] == loops.b_steps[-1] == 1


def _rows(site: Site) -> tuple[int, int, int, int]:
    """glue_rows_mve_dims."""
    loops = site.op.arguments(site.types)["loops"]
    if len(loops.dims) < _ROWS:
        return 1, loops.dims[0], 0, 0
    return (*loops.dims, loops.a_steps[0], loops.b_steps[0])


def _mul_facts(site: Site) -> Mapping[str, Any]:
    """The rows."""
    return {"rows": _rows(site)}


def _operand_b(site: Site) -> int:
    """Index of the operand that is requantised: the other one has the larger scale, or the same."""
    return 1 if site.op.arguments(site.types)["first"] == _HALF else 0


def _clamped(site: Site) -> bool:
    """Operands in rows; the sum is not shifted left, and shifted right where it is rounded once."""
    most = -1 if rounds_once(site) else 0
    return _in_rows(site) and site.op.arguments(site.types)["result"][1] <= most


def _rectified(site: Site) -> bool:
    """As clamped, and the output has all codes.

    Where the shift rounds a second time, the zero point comes first.
    """
    arguments = site.op.arguments(site.types)
    first = site.quant(site.op.y).zero_point == -128 or arguments["result"][1] == 0
    return _clamped(site) and (first or rounds_once(site)) and arguments["clamp"] == (-128, 127)


def _short(site: Site) -> bool:
    """As rectified; likewise for the zero point of the operand of the smaller scale."""
    b = _operand_b(site)
    shift = site.op.arguments(site.types)[("first", "second")[b]][1]
    first = site.quant(site.op.inputs[b]).zero_point == -128 or shift == 0
    return _rectified(site) and (first or rounds_once(site))


def _add_facts(site: Site) -> Mapping[str, Any]:
    """The order of the operands, the factor of the second, the rows."""
    b = _operand_b(site)
    rows, size, *steps = _rows(site)
    return {
        "a": 1 - b,
        "b": b,
        "term": site.op.arguments(site.types)[("first", "second")[b]],
        "rows": (rows, size, steps[1 - b], steps[b]),
    }


def _averaged(site: Site) -> bool:
    """The input is rescaled, or a window has no more than 4095 cells."""
    return bool(site.op.tables(site.types, site.target)) or (
        prod(site.op.window.kernel) <= _LONGEST_MEAN
    )


def _add(name: str, when: Callable[[Site], bool]) -> Kernel:
    return Kernel(
        name,
        "ops/fast/add_mve.c.j2",
        ("glue_add_mve.c",),
        when=when,
        overlap=in_place(0, 1),
        isas=_MVE,
        facts=_add_facts,
    )


ADD: tuple[Kernel, ...] = (
    _add("glue_add_short_s8_mve", _short),
    _add("glue_add_rectified_s8_mve", _rectified),
    _add("glue_add_clamped_s8_mve", _clamped),
    _add("glue_add_s8_mve", _in_rows),
)
MUL: tuple[Kernel, ...] = (
    Kernel(
        "glue_mul_s8_mve",
        "ops/fast/mul_mve.c.j2",
        ("glue_mul_mve.c",),
        when=_in_rows,
        overlap=in_place(0, 1),
        isas=_MVE,
        facts=_mul_facts,
    ),
)
AVERAGE_POOL: tuple[Kernel, ...] = (
    Kernel(
        "glue_average_pool_s8_mve",
        "ops/fast/pool_mve.c.j2",
        ("glue_pool_mve_average.c",),
        overlap=window_overlap(Reads.OWN_CHANNEL),
        when=_averaged,
        isas=_MVE,
    ),
)
MAX_POOL: tuple[Kernel, ...] = (
    Kernel(
        "glue_max_pool_s8_mve",
        "ops/fast/pool_mve.c.j2",
        ("glue_pool_mve_max.c",),
        overlap=window_overlap(Reads.OWN_CHANNEL),
        isas=_MVE,
    ),
)
