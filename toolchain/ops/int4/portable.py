"""The portable kernel for int4 weights: four channels at a time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, Kernel, Site
from toolchain.ops.fast import compact
from toolchain.ops.fast.epilogue import clamp_of, folded_bias, interleaved, requantisation, rows_of

GROUP = 4
"""Channels whose weights share 16 bits."""

_PLACES = np.array((1, 16, 256, 4096))
_OFFSETS = np.array((8, 8, 8, 0))


def halfwords(weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Weights [G, 4, ...] of four channels in 16 bits each, as int64 [G, ...] from 0 to 65535.

    The first channel has the lowest 4 bits. The first three are w + 8, the fourth is w in two's
    complement.
    """
    column = (1, GROUP, *(1 for _ in weights.shape[2:]))
    digits = (weights + _OFFSETS.reshape(column)) * _PLACES.reshape(column)
    return np.asarray(digits.sum(axis=1) & 0xFFFF)


def grouped(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows [O, K] as groups [G, 4, K]; channels that are missing in the last one have zeros."""
    filled = np.pad(rows, ((0, -len(rows) % GROUP), (0, 0)))
    return filled.reshape(-1, GROUP, rows.shape[1])


def _pack(site: Site) -> Mapping[str, Array]:
    return {
        "weights": halfwords(grouped(rows_of(site))).astype(np.uint16).view(np.int16).reshape(-1),
        "biases": (folded_bias(site) & 0xFFFFFFFF).astype(np.uint32).view(np.int32),
        "scales": interleaved(*requantisation(site)),
    }


def _facts(site: Site) -> Mapping[str, Any]:
    window, x, y = compact.geometry(site)
    return {"x_dims": x, "y_dims": y, "window": window, "clamp": clamp_of(site)}


LAYER: tuple[Kernel, ...] = (
    Kernel(
        "glue_conv_s4",
        "ops/int4/conv_s4.c.j2",
        ("glue_conv_s4.c", "glue_conv_s4_products.c"),
        scratch=compact.scratch,
        overlap=compact.overlap,
        pack=_pack,
        facts=_facts,
    ),
)
