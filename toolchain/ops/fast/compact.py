"""One small kernel for convolutions of all kinds and fully connected layers, on every core."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from toolchain.ir import Array, Kernel, Site
from toolchain.ir.op import always
from toolchain.ops._diagonal import Reads, window_distance
from toolchain.ops._windows import Window
from toolchain.ops.fast.elementwise import EVERY_CORE
from toolchain.ops.fast.epilogue import clamp_of, folded_bias, interleaved, requantisation, rows_of
from toolchain.ops.fast.narrow import narrow

Shape4 = tuple[int, int, int, int]


def geometry(site: Site) -> tuple[Window, Shape4, Shape4]:
    """The window and the shapes; rows of a fully connected layer are pixels."""
    x, y = site.shape(site.op.x), site.shape(site.op.y)
    if hasattr(site.op, "window"):
        return site.op.window, x, y  # type: ignore[return-value]
    rows = prod(x[:-1])
    return Window((1, 1)), (1, 1, rows, x[-1]), (1, 1, rows, y[-1])


def _depth(site: Site) -> int:
    """Input channels of a group."""
    return int(rows_of(site).shape[1]) // prod(geometry(site)[0].kernel)


def scratch(site: Site) -> int:
    """A window; none where it lies in the input as one run."""
    window, x, _ = geometry(site)
    taps = prod(window.kernel)
    in_place = taps == 1 and not any(window.pads) and _depth(site) == x[3]
    return 0 if in_place else taps * x[3]


def overlap(site: Site) -> Mapping[int, int]:
    """A window is read before its pixel is written, or again for every channel."""
    reads = Reads.BEFORE if scratch(site) else Reads.ALL_CHANNELS
    return {0: window_distance(*geometry(site), reads=reads)}


def _pack(site: Site) -> Mapping[str, Array]:
    return {
        "weights": rows_of(site).astype(np.int8).reshape(-1),
        "biases": (folded_bias(site) & 0xFFFFFFFF).astype(np.uint32).view(np.int32),
        "scales": _scales(site),
    }


def _scales(site: Site) -> Array:
    """[channels * 2], or [2] where all are the same."""
    scales = interleaved(*requantisation(site)).reshape(-1, 2)
    return (scales if np.any(scales != scales[0]) else scales[:1]).reshape(-1)


def _facts(site: Site) -> Mapping[str, Any]:
    window, x, y = geometry(site)
    depth = _depth(site)
    return {
        "x_dims": x,
        "y_dims": y,
        "geometry": window,
        "depth": depth,
        "per_group": y[3] // (x[3] // depth),
        "clamp": clamp_of(site),
        "scale_step": 2 if len(_scales(site)) > 2 else 0,
    }


LAYER: tuple[Kernel, ...] = (
    Kernel(
        "glue_compact_s8",
        "ops/fast/compact.c.j2",
        ("glue_compact_s8.c", "glue_compact_products.c"),
        when=narrow(always),
        scratch=scratch,
        overlap=overlap,
        isas=EVERY_CORE,
        pack=_pack,
        facts=_facts,
    ),
)
