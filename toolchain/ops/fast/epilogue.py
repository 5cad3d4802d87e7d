"""What fast kernels fold at generation: offsets into biases, requantisation into a short form.

All arithmetic is that of LayerOp.simulate, rearranged: the results are the same bytes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, Rounding, Site
from toolchain.ir.fixedpoint import activation_codes, quantize_multipliers
from toolchain.ops._weights import layer_multipliers

LARGEST_SHIFT = 22
"""Right shifts above this would make the constant of the short form leave int32."""


def rows_of(site: Site) -> NDArray[np.int64]:
    """The filter as [O, taps], int64, whatever axis its output channels are on."""
    w = np.moveaxis(site.constants[site.op.inputs[1]], site.op.channel_axis, 0)
    return w.reshape(len(w), -1).astype(np.int64)


def folded_bias(site: Site) -> NDArray[np.int64]:
    """[O]: bias minus input zero point times the sum of a channel's weights.

    With it, sum((x - zero point) * w) + bias = sum(x * w) + folded bias over a whole window.
    """
    bias = site.constants[site.op.inputs[2]].astype(np.int64)
    return np.asarray(bias - site.quant(site.op.x).zero_point * rows_of(site).sum(axis=1))


def accumulator_range(site: Site) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Smallest and largest value per channel of sum(x * w) + folded bias, over every int8 x.

    The sum of any part of the taps plus the folded bias need not stay inside.
    """
    rows, bias = rows_of(site), folded_bias(site)
    high = np.maximum(rows * 127, rows * -128).sum(axis=1)
    low = np.minimum(rows * 127, rows * -128).sum(axis=1)
    return bias + low, bias + high


def clamp_of(site: Site) -> tuple[int, int]:
    """Bounds of the output codes."""
    return activation_codes(site.quant(site.op.y), site.op.low, site.op.high)


def rounds_once(site: Site) -> bool:
    """Products are rounded by the right shift alone."""
    return bool(site.op.rounding is Rounding.SINGLE)


@dataclass(frozen=True, slots=True)
class ShortForm:
    """Requantisation per channel in few instructions.

    h = (2 acc * multiplier + 2^31) >> 32; h += h >> 31; y = (h + constant) >> shift; the clamp.

    The second step (halves go away from zero) may be left out where the clamp's low end is the
    zero point, as after ReLU: h < 0 gives the zero point either way. At shift 0 it must be.

    Rounded once it is h = (2 acc * multiplier) >> 32; y = (h + constant) >> shift; the clamp. The
    floor of a floor is the floor of the whole; shift 0 would leave no half to add.

    Args:
        multiplier: int32 [O], Q31.
        constant: int32 [O], (1 << shift - 1) + (zero point << shift).
        shift: int32 [O], right shifts, 0 to LARGEST_SHIFT.
        rectified: There is no second step: the clamp's low end is the zero point, or products are
            rounded once.
    """

    multiplier: NDArray[np.int32]
    constant: NDArray[np.int32]
    shift: NDArray[np.int32]
    rectified: bool


def requantisation(site: Site) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Multipliers and left shifts, one per output channel, also where the weights share a scale."""
    multipliers, shifts = quantize_multipliers(layer_multipliers(site.op, site.types))
    channels = site.shape(site.op.y)[-1]
    return np.resize(multipliers, channels), np.resize(shifts, channels)


def short_form(site: Site) -> ShortForm | None:
    """The short form; None where a channel's numbers do not allow it.

    Channels that are requantised to nothing (multiplier 0, or a shift so large that no accumulator
    reaches half a step) get multiplier 0.
    """
    multipliers, left = requantisation(site)
    low, high = accumulator_range(site)
    if min(low.min(), -1) < -(2**30) or max(high.max(), 0) >= 2**30:
        return None
    shift = -left.astype(np.int64)
    nothing = (multipliers == 0) | (shift > 31)
    multipliers = np.where(nothing, 0, multipliers).astype(np.int32)
    shift = np.where(nothing, 1, shift)
    zero = site.quant(site.op.y).zero_point
    rectified = clamp_of(site)[0] == zero
    least = 0 if rectified and not rounds_once(site) else 1
    rectified = rectified or rounds_once(site)
    if shift.min() < least or shift.max() > LARGEST_SHIFT:
        return None
    half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)
    constant = half + (np.int64(zero) << shift)
    return ShortForm(multipliers, constant.astype(np.int32), shift.astype(np.int32), rectified)


def interleaved(*columns: Array) -> NDArray[np.int32]:
    """int32 [O * columns]: the columns of one channel side by side, for one LDM."""
    return np.stack([np.asarray(c, np.int32) for c in columns], axis=1).reshape(-1)
