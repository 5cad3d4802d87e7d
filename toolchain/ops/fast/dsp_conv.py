"""Convolutions and fully connected layers with the DSP extension (Cortex-M4, M7, M33)."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site
from toolchain.ir.op import always
from toolchain.ops._diagonal import Group, grouped_overlap, groups_of
from toolchain.ops.fast.dsp_stream import (
    chunk_of,
    is_rectified,
    is_short,
    runs_of,
    short_stream,
    taps_of,
    wide_stream,
)
from toolchain.ops.fast.epilogue import clamp_of, folded_bias, requantisation, rows_of
from toolchain.ops.fast.narrow import narrow
from toolchain.ops.fast.short_rows import odd_pixel

_CONV, _DENSE = 4, 8
"""Channels of a group."""

_NO_WINDOW = {"kernel": (1, 1), "stride": (1, 1), "pads": (0, 0), "dilation": (1, 1)}


def _is_row(site: Site) -> bool:
    """One output pixel, whose window is the whole input."""
    window = getattr(site.op, "window", None)
    if window is None:
        return prod(site.shape(site.op.x)[:-1]) == 1
    x = site.shape(site.op.x)
    whole = window.kernel == x[1:3] and not any(window.pads) and window.dilation == (1, 1)
    return bool(whole) and x[0] == 1


def row(site: Site) -> bool:
    """One row, sums of at most 24 bits, right shifts from 1 to 22."""
    return _is_row(site) and is_short(site, _DENSE)


def wide_row(site: Site) -> bool:
    """One row."""
    return _is_row(site)


def short(site: Site) -> bool:
    """Sums of at most 24 bits, right shifts from 1 to 22."""
    return is_short(site, _CONV)


def _row_scratch(site: Site) -> int:
    """Words after the whole ones of the input: the rest of the codes, and those that come again."""
    return int(4 * (taps_of(site, _DENSE).steps // 2 - rows_of(site).shape[1] // 4))


def _row_by_groups(site: Site) -> list[Group]:
    """All codes are read again for every eight channels."""
    return [Group(0, 1, (-(-site.shape(site.op.y)[-1] // _DENSE) - 1) * _DENSE)]


def _edge(site: Site) -> int:
    """Where codes of a window that leaves the image are copied to, bytes after the column."""
    runs, length = runs_of(site)
    window = getattr(site.op, "window", None)
    rows = 1 if window is None else window.kernel[0]
    steps = (taps_of(site, _CONV).steps - len(taps_of(site, _CONV).extra)) // runs
    return -(-((rows - 1) * (8 * steps - 2 * length) + 3 * length + 16) // 4) * 4


def columns_scratch(site: Site) -> int:
    """Windows of two pixels as pairs, and copies of those that leave the image."""
    taps, window = taps_of(site, _CONV), getattr(site.op, "window", None)
    column = 8 * taps.steps
    if window is None or not any(window.pads):
        return column
    runs, length = runs_of(site)
    rows: int = window.kernel[0]
    last = 8 * (taps.steps - len(taps.extra)) // runs * (runs - rows)
    return max(column, last + _edge(site) + -(-rows * 2 * length // 4) * 4)


def pairs_in_order(site: Site) -> list[Group]:
    """The windows of two pixels are in scratch memory before their outputs are written."""
    return groups_of(range(prod(site.shape(site.op.y)[:-1])), 2)


def conv_facts(site: Site, group: int) -> Mapping[str, Any]:
    """The layer's descriptor."""
    taps = taps_of(site, group)
    window = getattr(site.op, "window", None)
    x, y = site.shape(site.op.x), site.shape(site.op.y)
    geometry = dict(_NO_WINDOW)
    if window is None:
        x, y = ((1, 1, prod(s[:-1]), s[-1]) for s in (x, y))
    else:
        geometry = {k: getattr(window, k) for k in _NO_WINDOW}
    return {
        "x_dims": x,
        "y_dims": y,
        "geometry": geometry,
        "depth": prod(x[1:]),
        "channels": y[-1],
        "steps": taps.steps,
        "extra": len(taps.extra),
        "edge": _edge(site),
        "clamp": clamp_of(site),
        "rectified": is_rectified(site),
        "single": odd_pixel(site),
    }


def _pack(site: Site, group: int) -> Mapping[str, Array]:
    extra = taps_of(site, group).extra
    return {"stream": short_stream(site, group), **({"extra": extra} if len(extra) else {})}


def _wide_pack(site: Site, group: int) -> Mapping[str, Array]:
    extra = taps_of(site, group).extra
    multipliers, shifts = requantisation(site)
    biases = (folded_bias(site) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    return {
        "stream": wide_stream(site, group),
        "bias": biases,
        "multiplier": multipliers,
        "shift": shifts,
        **({"extra": extra} if len(extra) else {}),
    }


def _wide_facts(site: Site, group: int) -> Mapping[str, Any]:
    return {**conv_facts(site, group), "chunk": chunk_of(site, group)}


_ROW = ("glue_dense_dsp_column.c", "glue_dense_dsp_tile.c", "glue_dense_dsp_tile.S")
WINDOWS = (
    "glue_conv_dsp_columns.c",
    "glue_conv_dsp_runs.c",
    "glue_conv_dsp_runs.S",
    "glue_conv_dsp_windows.c",
)
"""What puts the codes of windows into columns."""
CLAMP = "glue_tile_dsp_clamp.c"
_PIXELS = (
    *WINDOWS,
    "glue_conv_dsp_single.c",
    "glue_conv_dsp_single.S",
    "glue_conv_dsp_tile.c",
    "glue_conv_dsp_tile.S",
    "glue_conv_dsp_tile_begin.c",
)


def _kernel(
    name: str, sources: tuple[str, ...], group: int, when: Callable[[Site], bool]
) -> Kernel:
    wide = "wide" in name
    return Kernel(
        name,
        f"ops/fast/{'conv' if group == _CONV else 'dense'}_dsp.c.j2",
        (f"{name}.c", *sources, *(() if wide else (CLAMP,))),
        scratch=columns_scratch if group == _CONV else _row_scratch,
        overlap=grouped_overlap(pairs_in_order if group == _CONV else _row_by_groups),
        isas=frozenset({Isa.DSP}),
        pack=lambda site: (_wide_pack if wide else _pack)(site, group),
        facts=lambda site: (_wide_facts if wide else conv_facts)(site, group),
        when=narrow(when, lambda site: taps_of(site, group).steps),
    )


CONVOLUTION: tuple[Kernel, ...] = (
    _kernel("glue_dense_dsp", _ROW, _DENSE, row),
    _kernel("glue_dense_wide_dsp", _ROW, _DENSE, wide_row),
    _kernel("glue_conv_dsp", _PIXELS, _CONV, short),
    _kernel("glue_conv_wide_dsp", _PIXELS, _CONV, always),
)
FULLY_CONNECTED: tuple[Kernel, ...] = CONVOLUTION
