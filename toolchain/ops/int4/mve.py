"""The kernels for int4 weights and MVE (Cortex-M55, M85): those for int8 weights, packed closer."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, Kernel, Site
from toolchain.ops.fast import mve_conv, mve_pointwise
from toolchain.ops.fast.dsp_stream import modulo
from toolchain.ops.fast.epilogue import accumulator_range
from toolchain.ops.fast.mve_conv import STEP

_LIMIT = 1 << 27
"""16 times a sum is an int32."""


def _sums_fit(site: Site) -> bool:
    low, high = accumulator_range(site)
    return bool(low.min() >= -_LIMIT and high.max() < _LIMIT)


def one_row(site: Site) -> bool:
    """A single row of inputs, sums of 28 bits."""
    return mve_conv.one_row(site) and _sums_fit(site)


def pointwise(site: Site) -> bool:
    """A 1 x 1 window without padding, sums of 28 bits; with strides, 16 n input channels."""
    return mve_pointwise.rows_in_place(site) and _sums_fit(site)


def windows(site: Site) -> bool:
    """One image, at most 65532 output channels, sums of 28 bits."""
    return mve_conv.fits(site) and _sums_fit(site)


def columns(site: Site) -> bool:
    """As glue_conv_3x3_mve, sums of 28 bits."""
    return mve_conv.shared_columns(site) and _sums_fit(site)


def paired(weights: NDArray[np.int8]) -> NDArray[np.int8]:
    """Weights [..., 2, n] of two channels in one byte each: first + 16 * second."""
    return np.asarray(weights[..., 0, :] + 16 * weights[..., 1, :], np.int8)


def _paired_words(words: NDArray[np.int32]) -> NDArray[np.int32]:
    """Words [blocks, ...] of the weights of pairs of channels, 16 codes each, in half as many."""
    weights = words.view(np.int8).reshape(len(words), -1, 2, STEP)
    return paired(weights).reshape(len(words), -1).view("<i4")


def _paired_sums(sums: NDArray[np.int64]) -> NDArray[np.int32]:
    """What the sums of pairs begin with: 16 first, first + 16 second."""
    first, second = sums[:, 0::2], sums[:, 1::2]
    both = np.stack([16 * first, first + 16 * second], axis=2)
    return modulo(both.reshape(sums.shape))


_PACKING = mve_conv.Packing(_paired_words, _paired_sums)


def _pack_rows(site: Site) -> Mapping[str, Array]:
    return mve_conv.pack_rows(site, _PACKING)


def _pack_pairs(site: Site) -> Mapping[str, Array]:
    return mve_conv.pack_pairs(site, _PACKING)


def _pack_columns(site: Site) -> Mapping[str, Array]:
    return mve_conv.pack_3x3(site, _PACKING)


def pack_dense(site: Site) -> Mapping[str, Array]:
    """The filter as glue_dense_s4_mve wants it."""
    return mve_conv.pack_dense(site, _PACKING)


_ROWS = ("glue_rows_s4_mve.c", "glue_rows_s4_mve.S")
_ROWS_32 = ("glue_rows_32_s4_mve.c", "glue_rows_32_s4_mve.S")

_POINTWISE: tuple[Kernel, ...] = (
    mve_pointwise.few_channels("glue_pointwise_32_s4_mve", _ROWS_32, _pack_pairs),
    mve_pointwise.any_channels("glue_pointwise_s4_mve", _ROWS, pointwise, _pack_rows),
)
CONVOLUTION: tuple[Kernel, ...] = (
    *_POINTWISE,
    mve_conv.columns_shared("glue_conv_3x3_s4_mve", columns, _pack_columns),
    mve_conv.gathered("glue_conv_32_s4_mve", _ROWS_32, mve_conv.few_taps, _pack_pairs),
    mve_conv.gathered("glue_conv_s4_mve", _ROWS, windows, _pack_rows),
)
FULLY_CONNECTED: tuple[Kernel, ...] = (
    mve_conv.dense("glue_dense_s4_mve", one_row, pack_dense),
    *_POINTWISE,
)
