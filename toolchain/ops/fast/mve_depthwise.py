"""Depthwise convolutions with MVE (Cortex-M55, M85)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops.fast import mve_strips as strips
from toolchain.ops.fast.epilogue import requantisation

_MVE = frozenset({Isa.MVE})
_LANES = 8


def _by_lanes(values: Array) -> Array:
    """int32 [groups, 8]: eight channels a row, the four even ones first, zeros at the end."""
    padded = np.zeros(-(-len(values) // _LANES) * _LANES, np.int32)
    padded[: len(values)] = values
    return padded.reshape(-1, 4, 2).transpose(0, 2, 1).reshape(-1, _LANES)


def _pack_any(site: Site) -> Mapping[str, Array]:
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
    """Kernel up to 3x3, stride 2, no dilation or multiplier, 8 outputs along one axis."""
    return strips.cut(site, strips.STRIDE2) is not None


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
    _strip_kernel("glue_depthwise_3x3_s8_mve", "glue_depthwise_mve_3x3", strips.STRIDE1, _stride1),
    _strip_kernel(
        "glue_depthwise_3x3_stride2_s8_mve",
        "glue_depthwise_mve_3x3_stride2",
        strips.STRIDE2,
        _stride2,
    ),
    Kernel(
        "glue_depthwise_s8_mve",
        "ops/fast/depthwise_mve.c.j2",
        ("glue_depthwise_mve.c",),
        overlap=window_overlap(Reads.OWN_CHANNEL),
        isas=_MVE,
        pack=_pack_any,
    ),
)
