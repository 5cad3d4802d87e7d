"""Convolutions and fully connected layers with MVE (Cortex-M55, M85)."""

from collections.abc import Callable, Mapping
from enum import IntEnum
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site
from toolchain.ops.fast.epilogue import (
    accumulator_range,
    clamp_of,
    folded_bias,
    requantisation,
    rounds_once,
    rows_of,
)

STEP = 16
"""Codes in one vector."""
MAX_CHANNELS = 65532
"""GLUE_MVE_MAX_CHANNELS: offsets of a scattered store have 16 bits."""
_FEW_STEPS = 2
"""Steps of rows whose weights stay in registers."""
_FEW_CHANNELS = 16
"""Output channels up to which that pays where windows are gathered a few at a time."""
_TILE = 4
"""Least rows of such a layer."""
_BATCH_BYTES = 768


def fits(site: Site) -> bool:
    """One image, at most 65532 output channels, and no sum of products leaves int32."""
    low, high = accumulator_range(site)
    inside = low.min() >= -(2**31) and high.max() < 2**31
    one = not hasattr(site.op, "window") or site.shape(site.op.x)[0] == 1
    return bool(inside) and one and site.shape(site.op.y)[-1] <= MAX_CHANNELS


def steps_of(site: Site) -> int:
    """Vectors in one row of the filter."""
    return -(-int(rows_of(site).shape[1]) // STEP)


class Form(IntEnum):
    """Forms of requantisation, as glue_mve.h numbers them."""

    RECTIFIED = 0
    """Right shifts only, no clamp inside int8; halves go up: the output's zero point is -128.

    Or products are rounded once; then no shift is 0, but where the multiplier is.
    """
    SIGNED = 1
    """The same with any zero point and two roundings; no shift is 0, but where the multiplier is.
    """
    GENERAL = 2


def form_of(site: Site) -> Form:
    """The simplest form that serves; a channel that is requantised to nothing fits them all."""
    multipliers, left = requantisation(site)
    most_left = int(np.where(multipliers == 0, -1, left).max())
    if clamp_of(site) != (-128, 127) or most_left > 0:
        return Form.GENERAL
    if rounds_once(site):
        return Form.RECTIFIED if most_left < 0 else Form.GENERAL
    if site.quant(site.op.y).zero_point == -128:
        return Form.RECTIFIED
    return Form.SIGNED if most_left < 0 else Form.GENERAL


def stream(site: Site, group: int, order: tuple[int, ...]) -> NDArray[np.int32]:
    """The filter as glue_filter_mve wants it.

    Args:
        site: Call of the kernel.
        group: Output channels per block.
        order: Channels of a block in the order of the tables behind the weights.
    """
    rows, steps = rows_of(site), steps_of(site)
    blocks = -(-len(rows) // group)
    channel = np.minimum(np.arange(blocks * group), len(rows) - 1).reshape(blocks, group)
    padded = np.zeros((len(rows), steps * STEP), np.int8)
    padded[:, : rows.shape[1]] = rows
    weights = padded.reshape(-1, steps, STEP)[channel].transpose(0, 2, 1, 3)
    multipliers, left = requantisation(site)
    right = np.minimum(left, -1 if rounds_once(site) else 0)
    tables = [multipliers, right]
    if form_of(site) is Form.GENERAL:
        tables.insert(0, left - right)
    ordered = channel[:, order]
    parts = [
        folded_bias(site)[channel].astype("<i4"),
        np.ascontiguousarray(weights).reshape(blocks, -1).view("<i4"),
        *(table[ordered].astype("<i4") for table in tables),
    ]
    return np.concatenate(parts, axis=1).reshape(-1).astype(np.int32)


def _filter_facts(site: Site) -> Mapping[str, Any]:
    return {
        "filter": {
            "steps": steps_of(site),
            "channels": site.shape(site.op.y)[-1],
            "form": f"GLUE_MVE_{form_of(site).name}",
            "clamp": clamp_of(site),
        }
    }


def _pack_rows(site: Site) -> Mapping[str, Array]:
    return {"stream": stream(site, 4, (0, 1, 2, 3))}


def _pack_pairs(site: Site) -> Mapping[str, Array]:
    """The filter as glue_rows_32_mve wants it."""
    rows, steps = rows_of(site), steps_of(site)
    pairs = -(-len(rows) // 2)
    channel = np.minimum(np.arange(2 * pairs), len(rows) - 1).reshape(pairs, 2)
    padded = np.zeros((len(rows), steps * STEP), np.int8)
    padded[:, : rows.shape[1]] = rows
    weights = padded.reshape(-1, steps, STEP)[channel].transpose(0, 2, 1, 3)
    multipliers, left = requantisation(site)
    zero = np.full((pairs, 1), site.quant(site.op.y).zero_point)
    parts = [
        np.ascontiguousarray(weights).reshape(pairs, -1).view("<i4"),
        *(folded_bias(site)[channel], multipliers[channel], left[channel], zero),
    ]
    return {"stream": np.concatenate(parts, axis=1).reshape(-1).astype(np.int32)}


# ---- one row ----


def one_row(site: Site) -> bool:
    """A single row of inputs."""
    return prod(site.shape(site.op.x)[:-1]) == 1 and fits(site)


def _pack_dense(site: Site) -> Mapping[str, Array]:
    return {"stream": stream(site, 8, (0, 2, 4, 6, 1, 3, 5, 7))}


def _dense_facts(site: Site) -> Mapping[str, Any]:
    return {**_filter_facts(site), "depth": rows_of(site).shape[1]}


# ---- rows that lie in the tensor ----


def _lines(site: Site, least: int = 1) -> dict[str, int]:
    """How a pointwise layer walks over its input.

    Args:
        site: Call of the kernel.
        least: Least number of rows, if any, that are read in place, or copied.
    """
    depth, steps = rows_of(site).shape[1], steps_of(site)
    shape = site.shape(site.op.x)
    window = getattr(site.op, "window", None)
    if window is None or window.stride == (1, 1):
        rows = prod(shape[:-1])
        # the steps of row i end at i * depth + 16 * steps
        direct = max((rows * depth - STEP * steps) // depth + 1, 0)
        direct = direct if direct == rows else min(direct, rows - least)
        return {
            "pitch": depth, "lines": 1, "line_step": 0, "rows": rows,
            "direct": 0 if direct < least else direct,
        }  # fmt: skip
    (down, right), (_, height, width, _) = window.stride, site.shape(site.op.y)
    return {
        "pitch": right * depth,
        "lines": height,
        "line_step": down * shape[2] * depth,
        "rows": width,
        "direct": width,
    }


def rows_in_place(site: Site) -> bool:
    """A 1 x 1 window without padding; with strides, input channels in multiples of 16."""
    window = getattr(site.op, "window", None)
    if window is None:
        return fits(site)
    if window.kernel != (1, 1) or any(window.pads):
        return False
    return fits(site) and (window.stride == (1, 1) or rows_of(site).shape[1] % STEP == 0)


def few_channels_in_place(site: Site) -> bool:
    """As glue_pointwise_mve, but at most 16, or 32 input channels, and 4 rows or more in a line.

    The output's zero point is -128 or rounding single; no clamp inside int8, right shifts only.
    """
    if not rows_in_place(site) or steps_of(site) > _FEW_STEPS:
        return False
    lines = _lines(site, _TILE)
    gapless = steps_of(site) == 1 or lines["pitch"] == STEP * _FEW_STEPS
    few = site.shape(site.op.y)[-1] <= MAX_CHANNELS // _TILE
    rectified = form_of(site) is Form.RECTIFIED
    return gapless and few and rectified and lines["rows"] >= _TILE


def _pointwise_scratch(least: int) -> Callable[[Site], int]:
    def scratch(site: Site) -> int:
        lines = _lines(site, least)
        return (lines["rows"] - lines["direct"]) * STEP * steps_of(site)

    return scratch


def _pointwise_facts(least: int) -> Callable[[Site], Mapping[str, Any]]:
    def facts(site: Site) -> Mapping[str, Any]:
        depth = rows_of(site).shape[1]
        return {**_filter_facts(site), "depth": depth, "walk": _lines(site, least)}

    return facts


# ---- 3 x 3 ----


def shared_columns(site: Site) -> bool:
    """3 x 3, strides of 1, lines of 4 outputs or more, input channels / 16, output channels / 2.

    No clamp inside int8, right shifts only; the zero point is -128, or no shift is 0.
    """
    window = site.op.window
    if (window.kernel, window.stride, window.dilation) != ((3, 3), (1, 1), (1, 1)):
        return False
    _, _, width, channels = site.shape(site.op.y)
    if site.shape(site.op.x)[-1] % STEP or channels % 2 or width < _TILE:
        return False
    few = channels <= MAX_CHANNELS // _TILE
    return fits(site) and few and form_of(site) is not Form.GENERAL


def _pack_3x3(site: Site) -> Mapping[str, Array]:
    pairs = site.shape(site.op.y)[-1] // 2
    steps = site.shape(site.op.x)[-1] // STEP
    weights = rows_of(site).astype(np.int8).reshape(pairs, 2, 9, steps, STEP)
    multipliers, left = (table.reshape(pairs, 2) for table in requantisation(site))
    zero = site.quant(site.op.y).zero_point
    signed, zeros = (np.full((pairs, 1), v) for v in (form_of(site) is Form.SIGNED, zero))
    parts = [
        np.repeat(folded_bias(site), _TILE).reshape(pairs, 2 * _TILE),
        np.ascontiguousarray(weights.transpose(0, 3, 2, 1, 4)).reshape(pairs, -1).view("<i4"),
        *(multipliers, signed, left, zeros),
    ]
    return {"stream": np.concatenate(parts, axis=1).reshape(-1).astype(np.int32)}


def _3x3_scratch(site: Site) -> int:
    return 3 * 6 * site.shape(site.op.x)[-1]


def _3x3_facts(site: Site) -> Mapping[str, Any]:
    return {"steps": site.shape(site.op.x)[-1] // STEP}


# ---- windows that are gathered first ----


def _outputs(site: Site) -> int:
    _, height, width, _ = site.shape(site.op.y)
    return int(height * width)


def few_taps(site: Site) -> bool:
    """At most 32 taps times input channels, at most 16 output channels, 4 positions or more.

    The output's zero point is -128 or rounding single; no clamp inside int8, right shifts only.
    """
    return (
        fits(site)
        and form_of(site) is Form.RECTIFIED
        and steps_of(site) <= _FEW_STEPS
        and site.shape(site.op.y)[-1] <= _FEW_CHANNELS
        and _outputs(site) >= _TILE
    )


def _batch(site: Site) -> int:
    """Windows gathered before they are multiplied: a multiple of four, or two, or all."""
    fitting = _BATCH_BYTES // (STEP * steps_of(site)) // _TILE * _TILE
    return min(max(fitting, 2), _outputs(site))


def _conv_scratch(site: Site) -> int:
    return _batch(site) * STEP * steps_of(site)


def _conv_facts(site: Site) -> Mapping[str, Any]:
    window, width = site.op.window, site.shape(site.op.x)[2]
    inside = (width + window.pads[1] - window.kernel[1]) // window.stride[1] + 1
    return {**_filter_facts(site), "batch": _batch(site), "inside_end": max(inside, 0)}


_MVE = frozenset({Isa.MVE})
_ROWS = ("glue_rows_mve.c", "glue_rows_mve.S")
_ROWS_32 = ("glue_rows_32_mve.c", "glue_rows_32_mve.S")


def _pointwise() -> tuple[Kernel, ...]:
    template, walk = "ops/fast/pointwise_mve.c.j2", "glue_pointwise_walk_mve.c"
    return (
        Kernel(
            "glue_pointwise_32_mve",
            template,
            ("glue_pointwise_32_mve.c", walk, *_ROWS_32),
            when=few_channels_in_place,
            scratch=_pointwise_scratch(_TILE),
            isas=_MVE,
            pack=_pack_pairs,
            facts=_pointwise_facts(_TILE),
        ),
        Kernel(
            "glue_pointwise_mve",
            template,
            ("glue_pointwise_mve.c", walk, *_ROWS),
            when=rows_in_place,
            scratch=_pointwise_scratch(1),
            isas=_MVE,
            pack=_pack_rows,
            facts=_pointwise_facts(1),
        ),
    )


def _windows() -> tuple[Kernel, ...]:
    template = "ops/fast/conv_mve.c.j2"
    walk = ("glue_conv_walk_mve.c", "glue_windows_mve.c", "glue_windows_mve.S")
    return (
        Kernel(
            "glue_conv_32_mve",
            template,
            ("glue_conv_32_mve.c", *walk, *_ROWS_32),
            when=few_taps,
            scratch=_conv_scratch,
            isas=_MVE,
            pack=_pack_pairs,
            facts=_conv_facts,
        ),
        Kernel(
            "glue_conv_mve",
            template,
            ("glue_conv_mve.c", *walk, *_ROWS),
            when=fits,
            scratch=_conv_scratch,
            isas=_MVE,
            pack=_pack_rows,
            facts=_conv_facts,
        ),
    )


CONVOLUTION: tuple[Kernel, ...] = (
    *_pointwise(),
    Kernel(
        "glue_conv_3x3_mve",
        "ops/fast/conv_3x3_mve.c.j2",
        ("glue_conv_3x3_mve.c", "glue_conv_3x3_mve.S"),
        when=shared_columns,
        scratch=_3x3_scratch,
        isas=_MVE,
        pack=_pack_3x3,
        facts=_3x3_facts,
    ),
    *_windows(),
)
FULLY_CONNECTED: tuple[Kernel, ...] = (
    Kernel(
        "glue_dense_mve",
        "ops/fast/dense_mve.c.j2",
        ("glue_dense_mve.c", "glue_dense_mve.S"),
        when=one_row,
        isas=_MVE,
        pack=_pack_dense,
        facts=_dense_facts,
    ),
    *_pointwise(),
)
