"""Depthwise convolutions without SIMD (Cortex-M0, M0+, M3)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site
from toolchain.ir.op import no_overlap
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops.fast.epilogue import clamp_of, folded_bias, rows_of
from toolchain.ops.fast.scalar_conv import one_sample
from toolchain.ops.fast.scalar_epilogue import GENERAL, RECTIFIED, epilogue_of
from toolchain.ops.fast.short_rows import first_place, windows_of_3x3

_LINE = 60
"""Instructions at the ends of a line, about."""


def channel_streams(site: Site) -> Mapping[str, Array]:
    """Per output channel: folded bias, bias, four numbers, weight codes filled up to words."""
    return _streams(site, rows_of(site))


def line_streams(site: Site) -> Mapping[str, Array]:
    """The same with the weights of 3x3 kernels in the order of the lines they run along."""
    return _streams(site, _upright_rows(site) if _upright(site) else rows_of(site))


def _upright_rows(site: Site) -> NDArray[np.int64]:
    return rows_of(site).reshape(-1, 3, 3).transpose(0, 2, 1).reshape(-1, 9)


def _streams(site: Site, rows: NDArray[np.int64]) -> Mapping[str, Array]:
    codes = np.pad(rows.astype(np.int8), ((0, 0), (0, -rows.shape[1] % 4)))
    biases = np.stack([folded_bias(site), site.constants[site.op.inputs[2]]], axis=1)
    words = np.ascontiguousarray(codes).view("<i4")
    streams = np.concatenate([biases.astype(np.int32), epilogue_of(site).numbers, words], axis=1)
    return {"streams": streams.astype(np.int32).reshape(-1)}


def depthwise_facts(site: Site) -> Mapping[str, Any]:
    """The layer's descriptor."""
    window = site.op.window
    x, y = site.shape(site.op.x), site.shape(site.op.y)
    return {
        "x_size": x[1:3], "y_size": y[1:3], "kernel_size": window.kernel, "stride": window.stride,
        "padding": window.pads[:2], "dilation": window.dilation, "depth_in": x[3],
        "upright": 0, "epilogue": epilogue_of(site).name, "clamp": clamp_of(site),
    }  # fmt: skip


def line_facts(site: Site) -> Mapping[str, Any]:
    """The same for the 3x3 kernels."""
    return {**depthwise_facts(site), "upright": int(_upright(site))}


def _upright(site: Site) -> bool:
    """The 3x3 kernels run along columns of the image: the longer way."""
    (_, _, width, _), (_, oh, ow, _) = site.shape(site.op.x), site.shape(site.op.y)
    return oh > ow and (site.op.window.stride != (1, 1) or width == ow)


def _overwrites(site: Site) -> tuple[int, ...]:
    """With stride 2, lines along the rows end up where all that lies was read before.

    Output line l takes the place of input line l / 2 about, of the same channel, and later lines
    read from input line 2 l + 1 on. With stride 1 the next line reads what lies at its place.
    """
    return (0,) if site.op.window.stride == (2, 2) and not _upright(site) else ()


def _level(site: Site) -> bool:
    """Lines along the rows of the image."""
    return site.op.window.stride == (2, 2) and _upright(site)


def _more_lines(site: Site) -> int:
    """Instructions of more and shorter lines, about."""
    _, height, width, channels = site.shape(site.op.y)
    return _LINE * channels * max(height - width, 0)


def three_by_three(site: Site) -> bool:
    """3x3, stride 1 or 2, no dilation, pads up to 1, images from 3x3, channels kept, usual scales.

    Usual scales: right shifts of 1 to 22 and a clamp to the whole range of int8.
    """
    window, x = site.op.window, site.shape(site.op.x)
    return (
        one_sample(site)
        and window.kernel == (3, 3)
        and window.stride in ((1, 1), (2, 2))
        and window.dilation == (1, 1)
        and max(window.pads) <= 1
        and min(x[1:3]) >= 3
        and site.shape(site.op.y)[3] == x[3]
        and epilogue_of(site).name != GENERAL
    )


_ROLLING = (
    "glue_depthwise_scalar_3x3.c", "glue_depthwise_scalar_line.c", "glue_depthwise_scalar_line.S",
)  # fmt: skip
_ROLLING_BASELINE = (
    "glue_depthwise_baseline_3x3.c",
    "glue_depthwise_baseline_line.c",
    "glue_depthwise_baseline_line.S",
)


def one_row(site: Site) -> bool:
    """One row of outputs, 3x3, stride 1, pads up to 1, before a ReLU and with usual scales."""
    return windows_of_3x3(site) and epilogue_of(site).name == RECTIFIED


def _kernel(name: str, sources: tuple[str, ...], isa: Isa) -> Kernel:
    return Kernel(
        name,
        "ops/fast/depthwise_scalar.c.j2",
        sources,
        when=one_sample,
        overlap=window_overlap(Reads.OWN_CHANNEL),
        isas=frozenset({isa}),
        pack=channel_streams,
        facts=depthwise_facts,
    )


def _rolling(name: str, sources: tuple[str, ...], isa: Isa) -> Kernel:
    usual = replace(
        _kernel(name, sources, isa),
        when=three_by_three,
        overlap=no_overlap,
        onto=_overwrites,
        pack=line_streams,
        facts=line_facts,
    )
    level = replace(
        usual,
        when=_level,
        onto=lambda _: (0,),
        pack=channel_streams,
        facts=depthwise_facts,
        dearer=_more_lines,
    )
    return replace(usual, frugal=(level,))


ROW = Kernel(
    "glue_depthwise_row_scalar",
    "ops/fast/depthwise_scalar.c.j2",
    ("glue_depthwise_row_scalar.c", "glue_depthwise_row_scalar.S"),
    one_row,
    onto=first_place,
    isas=frozenset({Isa.SCALAR}),
    pack=channel_streams,
    facts=depthwise_facts,
)
DEPTHWISE: tuple[Kernel, ...] = (
    ROW,
    _rolling("glue_depthwise_3x3_scalar", _ROLLING, Isa.SCALAR),
    _rolling("glue_depthwise_3x3_baseline", _ROLLING_BASELINE, Isa.BASELINE),
    _kernel("glue_depthwise_scalar", ("glue_depthwise_scalar.c",), Isa.SCALAR),
    _kernel("glue_depthwise_baseline", ("glue_depthwise_baseline.c",), Isa.BASELINE),
)
