"""Convolutions and fully connected layers without SIMD (Cortex-M0, M0+, M3)."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site, always
from toolchain.ops._diagonal import Group, grouped_overlap, groups_of
from toolchain.ops.fast.epilogue import clamp_of, folded_bias, rows_of
from toolchain.ops.fast.scalar_epilogue import epilogue_of
from toolchain.ops.fast.short_rows import odd_pixel

_TILE_CHANNELS = 4
_DENSE_CHANNELS = 8
_PAIR_CHANNELS = 2
_BYTE_CHANNELS = 8
_TOGETHER = 2 * 8
"""Pixels of which the last channels follow all others: PAIRS_TOGETHER in glue_conv_scalar.c."""
_FIELD_OFFSET = 0x7F80
"""Keeps the sum of two products in 16 bits from going below zero."""
_COLUMN_BYTES = 512
"""Windows are gathered while they fit into this, and two at least."""


def _streams(site: Site, group: int) -> Mapping[str, Array]:
    """Streams of whole groups, and of the last channels where they do not fill one."""
    rows, bias = rows_of(site), folded_bias(site)
    numbers = epilogue_of(site).numbers
    return _grouped(len(rows), group, lambda channels: _stream(rows, bias, numbers, channels))


def _stream(
    rows: NDArray[np.int64], bias: NDArray[np.int64], numbers: NDArray[np.int32], channels: range
) -> NDArray[np.int32]:
    """int32: biases, weight codes [depth][channels], numbers [channels][4]; zeros past the end."""
    inside = [c for c in channels if c < len(rows)]
    fill = len(channels) - len(inside)
    codes = np.pad(rows[inside].astype(np.int8), ((0, fill), (0, 0)))
    words = np.ascontiguousarray(codes.T).reshape(-1).view("<i4")
    return np.concatenate(
        [
            np.pad(bias[inside].astype(np.int32), (0, fill)),
            words.astype(np.int32),
            np.pad(numbers[inside], ((0, fill), (0, 0))).reshape(-1),
        ]
    )


def tile_streams(site: Site) -> Mapping[str, Array]:
    """Groups of four channels."""
    return _streams(site, _TILE_CHANNELS)


def dense_streams(site: Site) -> Mapping[str, Array]:
    """Groups of eight channels."""
    return _streams(site, _DENSE_CHANNELS)


def pair_streams(site: Site) -> Mapping[str, Array]:
    """Armv6-M: pairs of channels, their weights in pairs along the depth."""
    rows, bias = rows_of(site), folded_bias(site)
    rows = np.pad(rows, ((0, 0), (0, rows.shape[1] % 2)))
    steps = rows.shape[1] // 2
    first = bias - steps * _FIELD_OFFSET
    both = (first + (first << 16)) & 0xFFFFFFFF
    numbers = epilogue_of(site).numbers

    def stream(channels: range) -> NDArray[np.int32]:
        inside = [c for c in channels if c < len(rows)]
        fill = len(channels) - len(inside)
        codes = np.pad(rows[inside].astype(np.int8), ((0, fill), (0, 0)))
        codes = codes.reshape(_PAIR_CHANNELS, steps, 2).transpose(1, 0, 2)
        words = np.ascontiguousarray(codes).reshape(-1).view("<i4")
        sums = np.stack([both[inside].astype(np.uint32).view(np.int32), first[inside]], axis=1)
        return np.concatenate(
            [
                np.pad(sums.astype(np.int32), ((0, fill), (0, 0))).reshape(-1),
                words.astype(np.int32),
                np.pad(numbers[inside], ((0, fill), (0, 0))).reshape(-1),
            ]
        )

    return _grouped(len(rows), _PAIR_CHANNELS, stream)


def byte_streams(site: Site) -> Mapping[str, Array]:
    """Armv6-M: groups of eight channels, weights + 128."""
    rows, bias = rows_of(site) ^ -128, folded_bias(site)
    numbers = epilogue_of(site).numbers
    return _grouped(
        len(rows), _BYTE_CHANNELS, lambda channels: _stream(rows, bias, numbers, channels)
    )


def _grouped(
    channels: int, group: int, stream: Callable[[range], NDArray[np.int32]]
) -> Mapping[str, Array]:
    whole = channels - channels % group
    streams = {}
    if whole:
        starts = range(0, whole, group)
        streams["groups"] = np.concatenate([stream(range(c, c + group)) for c in starts])
    if whole < channels:
        first = max(channels - group, 0)
        streams["tail"] = stream(range(first, first + group))
    return streams


def _product(site: Site, group: int) -> Mapping[str, Any]:
    channels, depth = rows_of(site).shape
    return {
        "groups": channels // group,
        "depth": depth,
        "channels": channels,
        "epilogue": epilogue_of(site).name,
        "clamp": clamp_of(site),
    }


def _geometry(site: Site) -> Mapping[str, Any]:
    """Geometry of a convolution; the rows of a fully connected layer are the pixels of a line."""
    window = getattr(site.op, "window", None)
    x, y = site.shape(site.op.x), site.shape(site.op.y)
    if window is None:
        pixels = prod(x[:-1])
        return {
            "x_size": (1, pixels), "y_size": (1, pixels), "kernel_size": (1, 1), "stride": (1, 1),
            "padding": (0, 0), "dilation": (1, 1), "depth_in": x[-1],
        }  # fmt: skip
    return {
        "x_size": x[1:3], "y_size": y[1:3], "kernel_size": window.kernel, "stride": window.stride,
        "padding": window.pads[:2], "dilation": window.dilation, "depth_in": x[3],
    }  # fmt: skip


def tile_facts(site: Site) -> Mapping[str, Any]:
    """The layer's descriptor."""
    return {
        **_product(site, _TILE_CHANNELS),
        **_geometry(site),
        "columns": _columns(site),
        "single": odd_pixel(site),
    }


def pair_facts(site: Site) -> Mapping[str, Any]:
    """The layer's descriptor."""
    return {**_product(site, _PAIR_CHANNELS), **_geometry(site), "columns": _padding(site)}


def byte_facts(site: Site) -> Mapping[str, Any]:
    """The layer's descriptor."""
    return _product(site, _BYTE_CHANNELS)


def dense_facts(site: Site) -> Mapping[str, Any]:
    """The layer's descriptor."""
    return _product(site, _DENSE_CHANNELS)


def _columns(site: Site) -> int:
    """Windows gathered at a time, an even number; 0 where each is a run of codes in the image."""
    window = getattr(site.op, "window", None)
    if window is None:
        return 0
    one_line = window.kernel[0] == 1 and (window.kernel[1] == 1 or window.dilation[1] == 1)
    if one_line and not any(window.pads):
        return 0
    return max(2, _COLUMN_BYTES // _column_bytes(site) // 2 * 2)


def _column_bytes(site: Site) -> int:
    return -(-_depth(site) // 4) * 4


def _depth(site: Site) -> int:
    return int(rows_of(site).shape[1])


def gathered(site: Site) -> int:
    """Columns of codes."""
    return _columns(site) * _column_bytes(site)


def _padding(site: Site) -> int:
    """Codes of a pixel of padding, where there is some."""
    window = getattr(site.op, "window", None)
    return int(site.shape(site.op.x)[-1]) if window is not None and any(window.pads) else 0


def paired(site: Site) -> int:
    """One window of two pixels in words, and a pixel of padding."""
    return 8 * -(-_depth(site) // 2) + _padding(site)


def _tiles_in_order(site: Site) -> list[Group]:
    """Windows in scratch memory are read before; else again for every four channels of a pair.

    Channels that do not fill a group come after the others, and for many pairs at a time. Where the
    lines of the image are not one, pairs end with the line.
    """
    (_, height, width, _), channels = _output(site), site.shape(site.op.y)[-1]
    if _columns(site):
        return groups_of(range(height * width), _columns(site))
    again = (-(-channels // _TILE_CHANNELS) - 1) * _TILE_CHANNELS
    size = _TOGETHER if again and channels % _TILE_CHANNELS else 2
    geometry = _geometry(site)
    (_, x_width), (down, right) = geometry["x_size"], geometry["stride"]
    line = height * width if down == 1 and x_width == right * width else width
    return [
        group
        for first in range(0, height * width, line)
        for group in _tiles_of_line(range(first, first + line), size, again)
    ]


def _tiles_of_line(pixels: range, size: int, again: int) -> list[Group]:
    """Whole pairs, then an odd last pixel by itself."""
    pairs = range(pixels.start, pixels.stop - len(pixels) % 2)
    return groups_of(pairs, size, again) + groups_of(range(pairs.stop, pixels.stop), 1, again)


def _pairs_in_order(site: Site) -> list[Group]:
    """Two windows are in scratch memory before any of their outputs is written."""
    _, height, width, _ = _output(site)
    return groups_of(range(height * width), _PAIR_CHANNELS)


def _output(site: Site) -> tuple[int, int, int, int]:
    y = site.shape(site.op.y)
    if hasattr(site.op, "window"):
        return y[0], y[1], y[2], y[3]
    return 1, 1, prod(y[:-1]), y[-1]


def one_sample(site: Site) -> bool:
    """One sample at a time."""
    return site.shape(site.op.x)[0] == 1


def one_row(site: Site) -> bool:
    """One row of inputs."""
    return prod(site.shape(site.op.x)[:-1]) == 1


_TILE_SOURCES = (
    "glue_conv_scalar.c",
    "glue_conv_scalar_single.c",
    "glue_conv_scalar_single.S",
    "glue_conv_scalar_tile.c",
    "glue_conv_scalar_tile.S",
)
_DENSE_SOURCES = ("glue_dense_scalar.c", "glue_dense_scalar_group.c", "glue_dense_scalar_group.S")

_PAIR_SOURCES = (
    "glue_conv_baseline.c", "glue_conv_baseline_tile.c", "glue_conv_baseline_tile.S",
)  # fmt: skip
_BYTE_SOURCES = (
    "glue_dense_baseline.c", "glue_dense_baseline_group.c", "glue_dense_baseline_group.S",
)  # fmt: skip


def _tiles(when: Callable[[Site], bool]) -> tuple[Kernel, ...]:
    """The convolution kernels, which are also those of fully connected layers on many rows."""
    return (
        Kernel(
            "glue_conv_scalar",
            "ops/fast/conv_scalar.c.j2",
            _TILE_SOURCES,
            when=when,
            scratch=gathered,
            overlap=grouped_overlap(_tiles_in_order),
            isas=frozenset({Isa.SCALAR}),
            pack=tile_streams,
            facts=tile_facts,
        ),
        Kernel(
            "glue_conv_baseline",
            "ops/fast/conv_baseline.c.j2",
            _PAIR_SOURCES,
            when=when,
            scratch=paired,
            overlap=grouped_overlap(_pairs_in_order),
            isas=frozenset({Isa.BASELINE}),
            pack=pair_streams,
            facts=pair_facts,
        ),
    )


CONVOLUTION: tuple[Kernel, ...] = _tiles(one_sample)
FULLY_CONNECTED: tuple[Kernel, ...] = (
    Kernel(
        "glue_dense_scalar",
        "ops/fast/dense_scalar.c.j2",
        _DENSE_SOURCES,
        when=one_row,
        isas=frozenset({Isa.SCALAR}),
        pack=dense_streams,
        facts=dense_facts,
    ),
    Kernel(
        "glue_dense_baseline",
        "ops/fast/dense_scalar.c.j2",
        _BYTE_SOURCES,
        when=one_row,
        isas=frozenset({Isa.BASELINE}),
        pack=byte_streams,
        facts=byte_facts,
    ),
    *_tiles(always),
)
