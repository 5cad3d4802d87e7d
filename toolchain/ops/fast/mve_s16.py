"""Layers of int16 activations and int8 weights with MVE; see glue_s16_mve.h."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from toolchain.ir import Array, Kernel, Site
from toolchain.ir.fixedpoint import clamp_codes
from toolchain.ir.tensor import DType
from toolchain.ops._diagonal import Group, Reads, grouped_overlap, twice, window_overlap
from toolchain.ops.fast.epilogue import requantisation, rounds_once
from toolchain.ops.fast.mve_conv import (
    MAX_CHANNELS,
    MVE,
    WALK,
    Form,
    batches_in_order,
    blocks_of,
    conv_scratch,
    joined,
    row_bytes,
    steps_of,
    tables_of,
    windows_of,
)
from toolchain.ops.fast.mve_depthwise import pack_any
from toolchain.ops.fast.mve_pointwise import (
    is_pointwise,
    lines_of,
    pointwise_scratch,
    rows_in_order,
)
from toolchain.ops.fast.s16 import is_wide, scales_of

_GROUP = 4
"""Channels whose sums are in registers together."""
_STEP = 8
"""Codes in one vector."""


def _fits(site: Site) -> bool:
    one = not hasattr(site.op, "window") or site.shape(site.op.x)[0] == 1
    return one and site.shape(site.op.y)[-1] <= MAX_CHANNELS


def windows(site: Site) -> bool:
    """One image, at most 65532 output channels, sums of 32 bits."""
    return _fits(site) and not is_wide(site)


def wide_windows(site: Site) -> bool:
    """One image, at most 65532 output channels, sums of 64 bits."""
    return _fits(site) and is_wide(site)


def pointwise(site: Site) -> bool:
    """A 1 x 1 window without padding, sums of 32 bits; with strides, 8 n input channels."""
    return windows(site) and is_pointwise(site)


def wide_pointwise(site: Site) -> bool:
    """A 1 x 1 window without padding, sums of 64 bits; with strides, 8 n input channels."""
    return wide_windows(site) and is_pointwise(site)


def _clamp(site: Site) -> tuple[int, int]:
    return clamp_codes(site.types[site.op.y], site.op.low, site.op.high)


def _form(site: Site) -> Form:
    """The simplest form that serves; a channel that is requantised to nothing fits them all."""
    multipliers, left = requantisation(site)
    most_left = int(np.where(multipliers == 0, -1, left).max())
    low, high = _clamp(site)
    lowest, highest = DType.INT16.limits
    if high != highest or most_left > 0:
        return Form.GENERAL
    if most_left < 0 and rounds_once(site):
        return Form.RECTIFIED
    if low >= 0 and not rounds_once(site):
        return Form.RECTIFIED
    return Form.SIGNED if most_left < 0 and low == lowest else Form.GENERAL


def _stream(site: Site) -> Mapping[str, Array]:
    channel, weights = blocks_of(site, _GROUP, _STEP)
    bias = site.constants[site.op.inputs[2]]
    tables = (table[channel] for table in tables_of(site, _form(site)))
    return {"stream": joined([bias[channel], weights, *tables])}


def _wide_stream(site: Site) -> Mapping[str, Array]:
    channel, weights = blocks_of(site, _GROUP, _STEP)
    bias = site.constants[site.op.inputs[2]].astype("<i8")
    multipliers, left = scales_of(site)
    return {
        "stream": joined(
            [bias[channel].view("<i4"), weights, multipliers[channel], 14 - left[channel]]
        )
    }


def _filter(site: Site) -> Mapping[str, Any]:
    return {
        "filter": {
            "steps": steps_of(site),
            "channels": 2 * site.shape(site.op.y)[-1],
            "form": f"GLUE_MVE_{_form(site).name}",
            "clamp": _clamp(site),
            "odd": False,
        }
    }


def _pointwise_facts(site: Site) -> Mapping[str, Any]:
    return {**_filter(site), "depth": row_bytes(site), "walk": lines_of(site)}


def _window_facts(site: Site) -> Mapping[str, Any]:
    return {**_filter(site), **windows_of(site)}


def _row_by_row(site: Site) -> list[Group]:
    return rows_in_order(site, 1)


_ROWS = ("glue_rows_s16_mve.c", "glue_rows_s16_mve.S")
_WIDE_ROWS = ("glue_rows_wide_s16_mve.c",)


def _pointwise(*, wide: bool) -> Kernel:
    name = "glue_pointwise_wide_s16_mve" if wide else "glue_pointwise_s16_mve"
    return Kernel(
        name,
        "ops/fast/pointwise_mve.c.j2",
        (f"{name}.c", "glue_pointwise_walk_mve.c", *(_WIDE_ROWS if wide else _ROWS)),
        when=wide_pointwise if wide else pointwise,
        scratch=pointwise_scratch(lines_of),
        overlap=twice(grouped_overlap(_row_by_row if wide else rows_in_order)),
        isas=MVE,
        pack=_wide_stream if wide else _stream,
        facts=_pointwise_facts,
    )


def _windows(*, wide: bool) -> Kernel:
    name = "glue_conv_wide_s16_mve" if wide else "glue_conv_s16_mve"
    return Kernel(
        name,
        "ops/fast/conv_mve.c.j2",
        (f"{name}.c", *WALK, *(_WIDE_ROWS if wide else _ROWS)),
        when=wide_windows if wide else windows,
        scratch=conv_scratch,
        overlap=twice(grouped_overlap(batches_in_order)),
        isas=MVE,
        pack=_wide_stream if wide else _stream,
        facts=_window_facts,
    )


FULLY_CONNECTED: tuple[Kernel, ...] = (_pointwise(wide=False), _pointwise(wide=True))
CONVOLUTION: tuple[Kernel, ...] = (
    _pointwise(wide=False),
    _windows(wide=False),
    _pointwise(wide=True),
    _windows(wide=True),
)


def own_channels(site: Site) -> bool:
    """One output channel for each input channel, sums of 32 bits."""
    return site.shape(site.op.x)[-1] == site.shape(site.op.y)[-1] and not is_wide(site)


DEPTHWISE: tuple[Kernel, ...] = (
    Kernel(
        "glue_depthwise_s16_mve",
        "ops/fast/depthwise_mve.c.j2",
        ("glue_depthwise_s16_mve.c",),
        when=own_channels,
        overlap=twice(window_overlap(Reads.OWN_CHANNEL)),
        isas=MVE,
        pack=pack_any,
    ),
)
