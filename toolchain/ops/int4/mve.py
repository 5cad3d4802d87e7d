"""The kernels for int4 weights and MVE (Cortex-M55, M85): those for int8 weights, packed closer."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, Kernel, Site
from toolchain.ops.fast import mve_conv, mve_pointwise
from toolchain.ops.fast.dsp_stream import modulo
from toolchain.ops.fast.epilogue import accumulator_range, folded_bias
from toolchain.ops.fast.mve_conv import MVE, STEP

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


def _stream(site: Site, group: int, order: tuple[int, ...]) -> Mapping[str, Array]:
    """As mve_conv.stream."""
    channel, words = mve_conv.blocks_of(site, group, STEP)
    sums, weights = _paired_sums(folded_bias(site)[channel]), _paired_words(words)
    ordered = channel[:, order]
    tables = (table[ordered] for table in mve_conv.tables_of(site, mve_conv.form_of(site)))
    return {"stream": mve_conv.joined([sums, weights, *tables])}


def _pack_columns(site: Site) -> Mapping[str, Array]:
    sums = _paired_sums(folded_bias(site).reshape(-1, 2))
    return mve_conv.pack_3x3(site, sums, _paired_words)


def _pack_pairs(site: Site) -> Mapping[str, Array]:
    return mve_conv.pack_pairs(site, _paired_words)


def _pack_rows(site: Site) -> Mapping[str, Array]:
    return _stream(site, 4, (0, 1, 2, 3))


def pack_dense(site: Site) -> Mapping[str, Array]:
    """The filter as glue_dense_s4_mve wants it."""
    return _stream(site, 8, (0, 2, 4, 6, 1, 3, 5, 7))


def _dense_facts(site: Site) -> Mapping[str, Any]:
    return {**mve_conv.filter_facts(site), "depth": mve_conv.row_bytes(site)}


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
    Kernel(
        "glue_dense_s4_mve",
        "ops/fast/dense_mve.c.j2",
        ("glue_dense_s4_mve.c", "glue_dense_s4_mve.S"),
        when=one_row,
        isas=MVE,
        pack=pack_dense,
        facts=_dense_facts,
    ),
    *_POINTWISE,
)
