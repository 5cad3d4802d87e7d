"""Depthwise convolutions with MVE (Cortex-M55, M85)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops.fast import mve_strips as strips
from toolchain.ops.fast.epilogue import folded_bias, requantisation, rounds_once
from toolchain.ops.fast.narrow import EXTENT
from toolchain.ops.fast.short_rows import first_place, windows_of_3x3

_MVE = frozenset({Isa.MVE})
_LANES = 8


def _by_lanes(values: Array) -> Array:
    """int32 [groups, 8]: eight channels a row, the four even ones first, zeros at the end."""
    padded = np.zeros(-(-len(values) // _LANES) * _LANES, np.int32)
    padded[: len(values)] = values
    return padded.reshape(-1, 4, 2).transpose(0, 2, 1).reshape(-1, _LANES)


def pack_any(site: Site) -> Mapping[str, Array]:
    """Filter as it is; biases and requantisation in the order of the vectors."""
    filters, bias = (site.constants[n] for n in site.op.inputs[1:])
    columns = (bias.astype(np.int32), *requantisation(site))
    tables: dict[str, Array] = {
        "filter": filters,
        "parameters": np.stack([_by_lanes(c) for c in columns], axis=1),
    }
    inputs, outputs = site.shape(site.op.x)[-1], site.shape(site.op.y)[-1]
    if inputs != outputs:
        tables["sources"] = (np.arange(outputs) // (outputs // inputs)).astype(np.uint16)
    return tables


def _stride1(site: Site) -> bool:
    """Kernel up to 3x3, stride 1, no dilation or multiplier, a map of at least 4x2 or 2x4."""
    return strips.cut(site, strips.STRIDE1) is not None


def _stride2(site: Site) -> bool:
    """Kernel up to 3x3, stride 2, no dilation or multiplier, a map of at least 4x2 or 2x4."""
    return strips.cut(site, strips.STRIDE2) is not None


def _stride2_line(site: Site) -> bool:
    """Kernel up to 3x3, stride 2, no dilation or multiplier, 8 outputs along one axis."""
    return strips.cut(site, strips.STRIDE2_LINE) is not None


_OUTPUTS = range(4, 9)
"""Of a row with a kernel of its own; more fill a step of the strips."""

_FOUR = 4
"""Channels that the row kernel takes together, and in which order."""
_ORDER = (0, 2, 1, 3)


def _one_row(site: Site) -> bool:
    """One row of 4 to 8 outputs, 3x3, stride 1, pads up to 1, 4 n channels, usual scales.

    The output's zero point is -128 or rounding single; no clamp inside int8, right shifts only.
    """
    y = site.shape(site.op.y)
    few = windows_of_3x3(site) and y[2] in _OUTPUTS and y[3] % _FOUR == 0
    return few and _FOUR * y[3] <= EXTENT and not strips.is_general(site)


def _row_scratch(site: Site) -> int:
    """Columns of 16 channels, as many as whole windows of two outputs have."""
    outputs = site.shape(site.op.y)[2]
    return strips.STRIDE1.cell * (outputs + outputs % 2 + 2)


def _row_pack(site: Site) -> Mapping[str, Array]:
    """Records of four channels and tables of them; see glue_depthwise_row_mve_params."""
    kernel = site.constants[site.op.inputs[1]][0]
    windows = np.zeros((kernel.shape[2], 2, 4, 4), np.int8)
    for place in range(2):
        windows[:, place, place : place + 3, :3] = kernel.transpose(2, 1, 0)
    weights = windows.reshape(len(windows), -1).view(np.dtype("<i4"))
    multiplier, left = requantisation(site)
    scales = np.stack([multiplier, np.minimum(left, -1 if rounds_once(site) else 0)], axis=1)
    biases = np.repeat(folded_bias(site).astype(np.int32)[:, None], 5, axis=1)
    before = np.concatenate([weights, biases, scales], axis=1)
    behind = np.concatenate([weights, biases[:, 1:], scales, biases[:, :1]], axis=1)
    records = np.where((np.arange(len(weights)) % _FOUR < 2)[:, None], before, behind)
    groups = records.reshape(-1, _FOUR, records.shape[1])[:, _ORDER]
    tables = scales.reshape(-1, _FOUR, 2).swapaxes(1, 2)
    parts = [part.reshape(len(groups), -1) for part in (groups, tables)]
    return {"stream": np.concatenate(parts, axis=1).astype(np.int32).reshape(-1)}


def _strip_kernel(name: str, source: str, form: strips.Form, when: Any) -> Kernel:
    def on(cut: Callable[[Site, strips.Form], strips.Cut | None], condition: Any) -> Kernel:
        def chosen(site: Site) -> strips.Cut:
            found = cut(site, form)
            assert found is not None, "the kernel does not apply"
            return found

        def overlap(site: Site) -> Mapping[int, int]:
            found = chosen(site)
            return {} if found.in_place else {0: strips.distance(site, form, found)}

        def dearer(site: Site) -> int:
            usual = strips.cut(site, form)
            assert usual is not None
            return max(chosen(site).cost - usual.cost, 0)

        files = (f"{source}.c", f"{source}.S")
        return Kernel(
            name,
            "ops/fast/depthwise_strips_mve.c.j2",
            (*files, "glue_depthwise_mve_strip.c", "glue_depthwise_mve_strip.S"),
            when=condition,
            scratch=lambda site: strips.scratch(site, form, chosen(site)),
            overlap=overlap,
            onto=lambda site: (0,) if chosen(site).in_place else (),
            isas=_MVE,
            pack=lambda site: strips.pack(site, form, chosen(site)),
            facts=lambda site: strips.facts(site, form, chosen(site)),
            dearer=dearer,
        )

    def by_lines(site: Site) -> bool:
        """Line by line."""
        return strips.cut_by_lines(site, form) is not None

    def in_place(site: Site) -> bool:
        """In place, with one line of the input kept."""
        return strips.cut_in_place(site, form) is not None

    frugal = (on(strips.cut_by_lines, by_lines), on(strips.cut_in_place, in_place))
    return replace(on(strips.cut, when), frugal=frugal)


DEPTHWISE: tuple[Kernel, ...] = (
    Kernel(
        "glue_depthwise_row_mve",
        "ops/fast/depthwise_row_mve.c.j2",
        ("glue_depthwise_row_mve.c", "glue_depthwise_row_mve.S"),
        _one_row,
        _row_scratch,
        onto=first_place,
        isas=_MVE,
        pack=_row_pack,
    ),
    _strip_kernel("glue_depthwise_3x3_s8_mve", "glue_depthwise_mve_3x3", strips.STRIDE1, _stride1),
    _strip_kernel(
        "glue_depthwise_3x3_stride2_s8_mve",
        "glue_depthwise_mve_3x3_stride2",
        strips.STRIDE2,
        _stride2,
    ),
    _strip_kernel(
        "glue_depthwise_3x3_stride2_line_s8_mve",
        "glue_depthwise_mve_3x3_stride2",
        strips.STRIDE2_LINE,
        _stride2_line,
    ),
    Kernel(
        "glue_depthwise_s8_mve",
        "ops/fast/depthwise_mve.c.j2",
        ("glue_depthwise_mve.c",),
        overlap=window_overlap(Reads.OWN_CHANNEL),
        isas=_MVE,
        pack=pack_any,
    ),
)
