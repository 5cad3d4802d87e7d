"""Layers of int16 activations and int8 weights with the DSP extension; see glue_s16_dsp.h."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site
from toolchain.ir.op import always
from toolchain.ops._diagonal import Reads, grouped_overlap, twice, window_overlap
from toolchain.ops.fast.dsp_conv import pairs_in_order
from toolchain.ops.fast.epilogue import interleaved, requantisation
from toolchain.ops.fast.s16 import (
    fits_32_bits,
    geometry,
    has_short_scales,
    is_wide,
    live_rows,
    nothing,
    runs_of,
    tables_of,
)

_GROUP = 4
"""Channels whose sums are in registers together."""
_DSP = frozenset({Isa.DSP})


def _pairs_of(site: Site) -> NDArray[np.int64]:
    """Weights [channels, pairs of taps, 2]: groups and runs are filled up with zeros."""
    rows = live_rows(site)[:, :-1]
    runs, length = runs_of(site)
    filled = np.zeros((len(rows) + -len(rows) % _GROUP, runs, length + length % 2), np.int64)
    filled[: len(rows), :, :length] = rows.reshape(len(rows), runs, length)
    return filled.reshape(len(filled), -1, 2)


def _steps(site: Site) -> int:
    runs, length = runs_of(site)
    return runs * -(-length // 2)


def _words(pairs: NDArray[np.int64]) -> NDArray[np.int32]:
    """[groups, steps * 2]: w0[0] w1[0] w0[1] w1[1], then channels 2 and 3."""
    groups, steps = len(pairs) // _GROUP, pairs.shape[1]
    ordered = pairs.reshape(groups, 2, 2, steps, 2).transpose(0, 3, 1, 4, 2)
    codes = np.ascontiguousarray(ordered).astype(np.int8)
    return np.asarray(codes.reshape(groups, -1).view("<i4"))


def short_scales(site: Site) -> NDArray[np.int32]:
    """[O * 2]: multiplier 2 m - 2^32 and scale -2^(32 - right shift) of every channel in turn."""
    multipliers, shifts = (v.astype(np.int64) for v in requantisation(site))
    dead = nothing(site)  # their sums are 0
    return interleaved(
        np.where(dead, 0, 2 * multipliers - 2**32),
        np.where(dead, -(2**31), -(np.int64(1) << (32 + np.where(dead, -1, shifts)))),
    )


def _short_pack(site: Site) -> Mapping[str, Array]:
    words = _words(_pairs_of(site))
    fill = len(words) * _GROUP - len(nothing(site))
    bias = np.pad(live_rows(site)[:, -1], (0, fill)).astype(np.int32)
    scales = np.pad(short_scales(site), (0, 2 * fill))
    parts = [bias.reshape(-1, _GROUP), words, scales.reshape(-1, 2 * _GROUP)]
    return {"stream": np.concatenate(parts, axis=1).reshape(-1)}


def _chunk(site: Site) -> int:
    """Most steps, out of even divisions, whose sums fit 32 bits."""
    pairs = _pairs_of(site)
    steps = int(pairs.shape[1])
    for parts in range(1, steps + 1):
        chunk = -(-steps // parts)
        if all(fits_32_bits(pairs[:, i : i + chunk]) for i in range(0, steps, chunk)):
            break
    return chunk


def _any_pack(site: Site) -> Mapping[str, Array]:
    pairs, chunk = _pairs_of(site), _chunk(site)
    parts: list[Array] = []
    for begin in range(0, pairs.shape[1], chunk):
        words = _words(pairs[:, begin : begin + chunk])
        parts += [np.zeros((len(words), _GROUP), np.int32), words]
    return {"stream": np.concatenate(parts, axis=1).reshape(-1), **tables_of(site)}


def _facts(site: Site) -> Mapping[str, Any]:
    return {**geometry(site), "wide": is_wide(site), "steps": _steps(site), "chunk": 0}


def _any_facts(site: Site) -> Mapping[str, Any]:
    return {**_facts(site), "chunk": _chunk(site)}


def _convolution(
    name: str,
    when: Callable[[Site], bool],
    pack: Callable[[Site], Mapping[str, Array]],
    facts: Callable[[Site], Mapping[str, Any]],
    own: tuple[str, ...] = (),
) -> Kernel:
    return Kernel(
        name,
        "ops/fast/conv_s16_dsp.c.j2",
        (
            f"{name}.c",
            "glue_conv_s16_dsp_columns.c",
            "glue_conv_s16_dsp_single.c",
            "glue_conv_s16_dsp_tile.c",
            "glue_conv_s16_dsp_tile.S",
            *own,
        ),
        scratch=lambda site: 8 * _steps(site),
        overlap=twice(grouped_overlap(pairs_in_order)),
        isas=_DSP,
        pack=pack,
        facts=facts,
        when=when,
        call_bytes=160,
    )


CONVOLUTION: tuple[Kernel, ...] = (
    _convolution(
        "glue_conv_s16_dsp",
        has_short_scales,
        _short_pack,
        _facts,
        ("glue_conv_s16_dsp_clamp.c",),
    ),
    _convolution("glue_conv_wide_s16_dsp", always, _any_pack, _any_facts),
)
FULLY_CONNECTED: tuple[Kernel, ...] = CONVOLUTION


# ---- depthwise ----


def own_channels(site: Site) -> bool:
    """One output channel for each input channel, sums of 32 bits, right shifts from 1 to 31."""
    return site.shape(site.op.x)[-1] == site.shape(site.op.y)[-1] and has_short_scales(site)


def rolling_columns(site: Site) -> bool:
    """3 x 3, strides and dilations of 1, pads up to 1, two rows and columns with the pads before.

    One output channel for each input channel, sums of 32 bits, right shifts from 1 to 31.
    """
    window, x = site.op.window, site.shape(site.op.x)
    return (
        (window.kernel, window.stride, window.dilation) == ((3, 3), (1, 1), (1, 1))
        and max(window.pads) <= 1
        and x[1] + window.pads[0] >= 2
        and x[2] + window.pads[1] >= 2
        and own_channels(site)
    )


def _factors(site: Site) -> NDArray[np.int32]:
    """[O, 3]: bias, multiplier, scale."""
    bias = live_rows(site)[:, -1:].astype(np.int32)
    return np.concatenate([bias, short_scales(site).reshape(-1, 2)], axis=1)


def _depthwise_pack(site: Site) -> Mapping[str, Array]:
    weights = site.constants[site.op.inputs[1]]
    live = np.where(nothing(site), np.int8(0), weights)
    return {"weights": live.reshape(-1), "factors": _factors(site).reshape(-1)}


def _is_tall(site: Site) -> bool:
    """Lines are rows of the image, which are shorter than its columns."""
    _, height, width, _ = site.shape(site.op.y)
    return bool(height > width)


def _rolling_pack(site: Site) -> Mapping[str, Array]:
    rows = live_rows(site)[:, :-1].reshape(-1, 3, 3)
    rows = rows.swapaxes(1, 2) if _is_tall(site) else rows
    zero = np.zeros(len(rows), np.int64)
    low = [*rows[:, 0].T, rows[:, 2, 0], rows[:, 2, 2]]
    high = [*rows[:, 1].T, rows[:, 2, 1], zero]
    words = [(a & 0xFFFF) | (b << 16) for a, b in zip(low, high, strict=True)]
    words[-1] &= 0xFFFF
    weights = np.stack(words, axis=1).astype(np.int32)
    return {"factors": np.concatenate([weights, _factors(site)], axis=1).reshape(-1)}


def _depthwise_facts(site: Site) -> Mapping[str, Any]:
    return {**geometry(site), "down": int(_is_tall(site))}


def _line_bytes(site: Site) -> int:
    return 2 * int(site.shape(site.op.x)[1 if _is_tall(site) else 2])


def _own_place(site: Site) -> tuple[int, ...]:
    """Each output is written over a code that is kept."""
    return (0,) if site.shape(site.op.x) == site.shape(site.op.y) else ()


DEPTHWISE: tuple[Kernel, ...] = (
    Kernel(
        "glue_depthwise_3x3_s16_dsp",
        "ops/fast/depthwise_s16_dsp.c.j2",
        ("glue_depthwise_3x3_s16_dsp.c", "glue_conv_s16_dsp_clamp.c"),
        when=rolling_columns,
        scratch=_line_bytes,
        onto=_own_place,
        isas=_DSP,
        pack=_rolling_pack,
        facts=_depthwise_facts,
        call_bytes=150,
    ),
    Kernel(
        "glue_depthwise_s16_dsp",
        "ops/fast/depthwise_s16_dsp.c.j2",
        ("glue_depthwise_s16_dsp.c", "glue_conv_s16_dsp_clamp.c"),
        overlap=twice(window_overlap(Reads.OWN_CHANNEL)),
        isas=_DSP,
        pack=_depthwise_pack,
        facts=_depthwise_facts,
        when=own_channels,
        call_bytes=150,
    ),
)
