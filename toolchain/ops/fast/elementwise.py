"""Element-wise kernels and pools in plain C that lean on what is worked out at generation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Isa
from toolchain.ir import Kernel, Site, in_place
from toolchain.ir.fixedpoint import quantize_multiplier
from toolchain.ir.op import always
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops.fast.epilogue import clamp_of, rounds_once
from toolchain.ops.fast.narrow import narrow

EVERY_CORE = frozenset({Isa.BASELINE, Isa.SCALAR, Isa.DSP, Isa.MVE})

BYTE_LANES = frozenset({Isa.DSP, Isa.MVE})
"""Cores that compare four bytes at once."""

CODES = np.arange(-128, 128)

SUM_SHIFT = 20
"""Right shift of the sums in glue_add_table_s8."""

NUDGES = (0, 1, -1, 2, -2)

PRODUCT_SHIFT = 14
"""Left shift of the products in glue_mul_short_s8."""


@dataclass(frozen=True, slots=True)
class SumForm:
    """y = (codes[linear] * factor + sums[code of the other]) >> SUM_SHIFT, then the clamp.

    Args:
        linear: Operand that is multiplied.
        factor: Its factor.
        sums: int32 [256], by code + 128.
    """

    linear: int
    factor: int
    sums: NDArray[np.int32]


def all_pairs(site: Site) -> NDArray[np.int64]:
    """[256, 256]: what the operator gives for each code of operand 0 (rows) and 1."""
    codes = CODES.astype(np.int8)
    (y,) = site.op.simulate(site.types, codes[:, None], codes[None, :])
    return np.asarray(y, np.int64)


def sum_form(
    results: NDArray[np.int64], ratios: tuple[float, float], clamp: tuple[int, int]
) -> SumForm | None:
    """A form that gives the same bytes for all 65,536 pairs, or None.

    Every pair of codes bounds the table's entry from below and from above: the sum has to reach
    the result and must not reach the next one. At the clamp's ends one bound is missing. The
    entry is the middle of what is left; nothing is left where the factor is too coarse.

    Args:
        results: As all_pairs gives them.
        ratios: Steps of the result per code of each operand.
        clamp: Bounds of the results.
    """
    for nudge in NUDGES:
        for linear, table in enumerate((results, results.T)):
            factor = round(ratios[linear] * 2.0**SUM_SHIFT) + nudge
            sums = _sums(table, factor, clamp)
            if sums is not None:
                return SumForm(linear, factor, sums)
    return None


def _sums(
    table: NDArray[np.int64], factor: int, clamp: tuple[int, int]
) -> NDArray[np.int32] | None:
    product = (CODES * factor)[:, None]
    none = np.int64(1) << 40
    reached = (table << SUM_SHIFT) - product
    least = np.where(table > clamp[0], reached, -none).max(axis=0)
    most = np.where(table < clamp[1], reached + (1 << SUM_SHIFT) - 1, none).min(axis=0)
    if np.any(least > most):
        return None
    middle = np.where(least == -none, most, np.where(most == none, least, (least + most) >> 1))
    middle = np.where((least == -none) & (most == none), 0, middle)
    if np.abs(product).max() + np.abs(middle).max() >= 2**31:
        return None
    return middle.astype(np.int32)


def _sum_form(site: Site) -> SumForm | None:
    a, b = (site.shape(x) for x in site.op.inputs)
    if a != b:
        return None
    step = site.quant(site.op.y).scale
    first, second = (site.quant(x).scale / step for x in site.op.inputs)
    return sum_form(all_pairs(site), (first, site.op.sign * second), clamp_of(site))


def _has_sum_form(site: Site) -> bool:
    """Two operands of one shape, and a table that gives every sum's rounding exactly."""
    return _sum_form(site) is not None


def _the_sum_form(site: Site) -> SumForm:
    form = _sum_form(site)
    assert form is not None
    return form


@dataclass(frozen=True, slots=True)
class ProductForm:
    """Parameters of glue_mul_short_s8."""

    multiplier: int
    constant: int
    shift: int
    sign: int


def _product_form(site: Site) -> ProductForm | None:
    a, b = (site.quant(x).scale for x in site.op.inputs)
    y = site.quant(site.op.y)
    multiplier, left = quantize_multiplier(a * b / y.scale)
    shift = PRODUCT_SHIFT - 1 - left
    if site.shape(site.op.x) != site.shape(site.op.inputs[1]) or not 13 <= shift <= 22:
        return None
    if rounds_once(site):
        return ProductForm(multiplier, (1 << (shift - 1)) + (y.zero_point << shift), shift, 0)
    right = -left
    constant = (1 << (PRODUCT_SHIFT - 2)) + (y.zero_point << shift)
    constant += 1 << (shift - 1) if right > 0 else 0
    return ProductForm(multiplier, constant, shift, -(1 << (PRODUCT_SHIFT - 1)) if right else 0)


def _has_product_form(site: Site) -> bool:
    """Two operands of one shape, and a result scale 1 to 512 times that of the product."""
    return _product_form(site) is not None


ADD: tuple[Kernel, ...] = (
    Kernel(
        "glue_add_table_s8",
        "ops/fast/add_table.c.j2",
        ("glue_add_table_s8.c",),
        when=_has_sum_form,
        overlap=in_place(0, 1),
        isas=EVERY_CORE,
        pack=lambda site: {"sums": _the_sum_form(site).sums},
        facts=lambda site: {"form": _the_sum_form(site)},
    ),
)


def _product_facts(site: Site) -> Mapping[str, Any]:
    return {"form": _product_form(site)}


MUL: tuple[Kernel, ...] = (
    Kernel(
        "glue_mul_short_s8",
        "ops/fast/mul_short.c.j2",
        ("glue_mul_short_s8.c",),
        when=_has_product_form,
        overlap=in_place(0, 1),
        isas=EVERY_CORE,
        facts=_product_facts,
    ),
)
AVERAGE_POOL: tuple[Kernel, ...] = (
    Kernel(
        "glue_avgpool_words_s8",
        "ops/fast/pool_words.c.j2",
        ("glue_avgpool_words_s8.c",),
        when=narrow(always),
        overlap=window_overlap(Reads.OWN_CHANNEL),
        isas=EVERY_CORE,
    ),
)
MAX_POOL: tuple[Kernel, ...] = (
    Kernel(
        "glue_max_pool_words_s8",
        "ops/fast/pool_words.c.j2",
        ("glue_max_pool_words_s8.c",),
        when=narrow(always),
        overlap=window_overlap(Reads.OWN_CHANNEL),
        isas=BYTE_LANES,
    ),
)
