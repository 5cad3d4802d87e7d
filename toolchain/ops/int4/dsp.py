"""The kernel for int4 weights and the DSP extension, which cores with MVE have as well."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site
from toolchain.ops._diagonal import grouped_overlap
from toolchain.ops.fast.dsp_conv import (
    CLAMP,
    WINDOWS,
    columns_scratch,
    conv_facts,
    pairs_in_order,
)
from toolchain.ops.fast.dsp_stream import first_sums, modulo, numbers_of, taps_of
from toolchain.ops.fast.epilogue import short_form
from toolchain.ops.fast.narrow import narrow
from toolchain.ops.int4.portable import GROUP, halfwords

_LIMITS = np.array((1 << 30, 1 << 23, 1 << 23, 1 << 19))
"""Magnitudes below which the sums of four channels can be told apart."""
_LARGEST = (1 << 15) - 1
_ODD_PIXELS = 15
"""An odd last pixel of more is not worth code of its own."""


def _weights(site: Site) -> NDArray[np.int64]:
    """[groups, 4, steps, 2]: pairs of taps, without the balance."""
    weights = taps_of(site, GROUP).weights
    return weights.reshape(-1, GROUP, *weights.shape[1:])


def _balance(site: Site) -> int:
    """Pairs of codes whose sum can be that of all others."""
    return -(-int(_weights(site).shape[2]) * 128 // _LARGEST)


def _steps(site: Site) -> int:
    return int(_weights(site).shape[2]) + _balance(site)


def short(site: Site) -> bool:
    """Sums of at most 24 bits, 20 in every fourth channel, right shifts from 1 to 22."""
    form = short_form(site)
    if form is None or form.shift.min() < 1:
        return False
    weights = _weights(site)
    bias = first_sums(site, weights.shape[0] * GROUP).reshape(-1, GROUP)
    high = bias + np.maximum(weights * 127, weights * -128).sum(axis=(2, 3))
    low = bias + np.minimum(weights * 127, weights * -128).sum(axis=(2, 3))
    return bool((low >= -_LIMITS).all() and (high < _LIMITS).all())


def _scratch(site: Site) -> int:
    return int(max(columns_scratch(site), 8 * _steps(site)))


def _pack(site: Site) -> Mapping[str, Array]:
    """Per group: sums to begin with, words of weights, multipliers and scales."""
    form, weights = short_form(site), _weights(site)
    assert form is not None
    weights = np.pad(weights, ((0, 0), (0, 0), (0, _balance(site)), (0, 0)))
    halves, channels = halfwords(weights), weights.shape[0] * GROUP
    bias = first_sums(site, channels).reshape(-1, GROUP)
    sums = bias[:, :1] + np.array((0, 16, 256, 0)) * bias
    sums[:, 3] = bias @ np.array((1, 16, 256, 4096))
    parts = [
        modulo(sums),
        modulo(halves[:, :, 0] | (halves[:, :, 1] << 16)),
        numbers_of(form, channels).reshape(-1, 2 * GROUP),
    ]
    return {"stream": np.concatenate(parts, axis=1).reshape(-1)}


def _facts(site: Site) -> Mapping[str, Any]:
    pixels = prod(site.shape(site.op.y)[:-1])
    single = pixels % 2 == 1 and pixels <= _ODD_PIXELS
    facts = {**conv_facts(site, GROUP), "steps": _steps(site), "single": single}
    return {**facts, "balance": _balance(site)}


LAYER: tuple[Kernel, ...] = (
    Kernel(
        "glue_conv_s4_dsp",
        "ops/fast/conv_dsp.c.j2",
        (
            "glue_conv_s4_dsp.c",
            "glue_conv_s4_dsp_tile.c",
            "glue_conv_s4_dsp_tile.S",
            "glue_conv_s4_dsp_single.S",
            *WINDOWS,
            CLAMP,
        ),
        when=narrow(short, _steps),
        scratch=_scratch,
        overlap=grouped_overlap(pairs_in_order),
        isas=frozenset({Isa.DSP, Isa.MVE}),
        pack=_pack,
        facts=_facts,
    ),
)
