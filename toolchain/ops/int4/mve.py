"""The kernels for int4 weights and MVE (Cortex-M55, M85): those for int8 weights, packed closer."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, Kernel, Site
from toolchain.ops._diagonal import grouped_overlap
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


def _packed(
    sums: NDArray[np.int64], weights: NDArray[np.int8]
) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """Of pairs of channels, [..., channels] and [..., 2, 16], as glue_s4_mve.h wants them."""
    first, second = sums[:, 0::2], sums[:, 1::2]
    both = np.stack([16 * first, first + 16 * second], axis=2)
    return modulo(both.reshape(sums.shape)), paired(weights)


def _stream(site: Site, group: int, order: tuple[int, ...]) -> Mapping[str, Array]:
    """As mve_conv.stream."""
    channel, words = mve_conv.blocks_of(site, group, STEP)
    pairs = words.view(np.int8).reshape(len(channel), -1, 2, STEP)
    sums, weights = _packed(folded_bias(site)[channel], pairs)
    ordered = channel[:, order]
    tables = (table[ordered] for table in mve_conv.tables_of(site, mve_conv.form_of(site)))
    return {
        "stream": mve_conv.joined([sums, weights.reshape(len(channel), -1).view("<i4"), *tables])
    }


def _pack_columns(site: Site) -> Mapping[str, Array]:
    return mve_conv.pack_3x3(site, _packed)


def _pack_rows(site: Site) -> Mapping[str, Array]:
    return _stream(site, 4, (0, 1, 2, 3))


def pack_dense(site: Site) -> Mapping[str, Array]:
    """The filter as glue_dense_s4_mve wants it."""
    return _stream(site, 8, (0, 2, 4, 6, 1, 3, 5, 7))


def _dense_facts(site: Site) -> Mapping[str, Any]:
    return {**mve_conv.filter_facts(site), "depth": mve_conv.row_bytes(site)}


def _pointwise_facts(site: Site) -> Mapping[str, Any]:
    return {**_dense_facts(site), "walk": mve_pointwise.lines_of(site)}


def _conv_facts(site: Site) -> Mapping[str, Any]:
    return {**mve_conv.filter_facts(site), **mve_conv.windows_of(site)}


_ROWS = ("glue_rows_s4_mve.c", "glue_rows_s4_mve.S")

_POINTWISE = Kernel(
    "glue_pointwise_s4_mve",
    "ops/fast/pointwise_mve.c.j2",
    ("glue_pointwise_s4_mve.c", "glue_pointwise_walk_mve.c", *_ROWS),
    when=pointwise,
    scratch=mve_pointwise.pointwise_scratch(mve_pointwise.lines_of),
    overlap=grouped_overlap(mve_pointwise.rows_in_order),
    isas=MVE,
    pack=_pack_rows,
    facts=_pointwise_facts,
)

CONVOLUTION: tuple[Kernel, ...] = (
    _POINTWISE,
    mve_conv.columns_shared("glue_conv_3x3_s4_mve", columns, _pack_columns),
    Kernel(
        "glue_conv_s4_mve",
        "ops/fast/conv_mve.c.j2",
        ("glue_conv_s4_mve.c", *mve_conv.WALK, *_ROWS),
        when=windows,
        scratch=mve_conv.conv_scratch,
        overlap=grouped_overlap(mve_conv.batches_in_order),
        isas=MVE,
        pack=_pack_rows,
        facts=_conv_facts,
    ),
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
    _POINTWISE,
)
