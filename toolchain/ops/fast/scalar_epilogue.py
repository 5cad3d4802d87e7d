"""Numbers per output channel from which cores without SIMD make codes of sums."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Isa
from toolchain.ir import Site
from toolchain.ir.fixedpoint import INT8_MAX, INT8_MIN
from toolchain.ops.fast.epilogue import (
    ShortForm,
    accumulator_range,
    clamp_of,
    requantisation,
    rounds_once,
    short_form,
)

RECTIFIED, SIGNED = "GLUE_SCALAR_RECTIFIED", "GLUE_SCALAR_SIGNED"
GENERAL = "GLUE_SCALAR_GENERAL"
_RECTIFIED_SUMS, _SIGNED_SUMS = 2**24, 2**23
"""Bounds of sums that 32-bit products can requantise."""
_DIRECT_SHIFT = 8
"""Up to this right shift two products do."""


@dataclass(frozen=True, slots=True)
class ScalarEpilogue:
    """How sums become codes.

    Args:
        name: The C constant.
        numbers: int32 [O, 4].
    """

    name: str
    numbers: NDArray[np.int32]


def epilogue_of(site: Site) -> ScalarEpilogue:
    """The epilogue with the fewest instructions that is exact for every channel.

    Floors of the short form are one floor: floor((floor(p / 2^31) + c) / 2^e) is
    floor((p + c * 2^31) / 2^(31 + e)) for integers. The first rounding, if there is one, adds 2^30
    to p.
    """
    form = short_form(site)
    if form is None or clamp_of(site) != (INT8_MIN, INT8_MAX) or form.shift.min() < 1:
        return _general(site)
    if site.target.isa is Isa.BASELINE:
        return _split(site, form)
    constant, shift = form.constant.astype(np.int64), form.shift
    if form.rectified:
        total, shift = (_first_half(site) << 30) + (constant << 31), shift - 1
    else:
        total = (np.int64(1) << 31) + (constant << 32)
    halves = np.ascontiguousarray(total).astype("<i8").view("<i4").reshape(-1, 2)
    name = RECTIFIED if form.rectified else SIGNED
    return _epilogue(name, form.multiplier, halves[:, 0], halves[:, 1], shift)


def _first_half(site: Site) -> np.int64:
    """Halves of 2^31 that the first rounding adds."""
    return np.int64(0 if rounds_once(site) else 1)


def _general(site: Site) -> ScalarEpilogue:
    multipliers, left = requantisation(site)
    return _epilogue(GENERAL, multipliers, left, np.zeros_like(left), np.zeros_like(left))


def _split(site: Site, form: ShortForm) -> ScalarEpilogue:
    """For 32-bit products: the multiplier in halves."""
    low, high = accumulator_range(site)
    multiplier, shift = form.multiplier.astype(np.int64), form.shift.astype(np.int64)
    rectified = site.quant(site.op.y).zero_point == INT8_MIN
    if rectified and int(high.max()) < _RECTIFIED_SUMS:
        # above the limit (sum * multiplier + constant * 2^15) >> (31 + shift) is more than 255
        constant = (_first_half(site) << 15) + (np.int64(1) << (15 + shift))
        limit = ((np.int64(1) << (39 + shift)) - 1 - (constant << 15)) // np.maximum(multiplier, 1)
        direct = shift <= _DIRECT_SHIFT
        constant = np.where(direct, constant, form.constant)
        return _epilogue(RECTIFIED, multiplier, np.minimum(limit, 2**31 - 1), constant, shift + 16)
    if not rectified and max(int(high.max()), -int(low.min())) < _SIGNED_SUMS:
        half = np.int64(1) << (shift - 1)
        return _epilogue(SIGNED, multiplier >> 16, multiplier & 0xFFFF, half, shift)
    return _general(site)


def _epilogue(name: str, *columns: NDArray[np.signedinteger[Any]]) -> ScalarEpilogue:
    return ScalarEpilogue(name, np.stack(columns, axis=1).astype(np.int32))
