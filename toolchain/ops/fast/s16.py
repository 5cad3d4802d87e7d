"""What fast kernels of int16 activations and int8 weights share."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, Site
from toolchain.ir.fixedpoint import reduced_multiplier
from toolchain.ops._weights import has_wide_sums
from toolchain.ops._windows import Window
from toolchain.ops.fast.epilogue import requantisation, rows_of

REACH = 2**15
"""Largest magnitude of a code."""


def is_wide(site: Site) -> bool:
    """Sums have 64 bits."""
    return has_wide_sums(site.op, site.types)


def geometry(site: Site) -> Mapping[str, Any]:
    """Four dimensions of all tensors, and the window; rows of a dense layer are pixels."""
    x, w, y = (site.shape(n) for n in (site.op.x, site.op.inputs[1], site.op.y))
    window = getattr(site.op, "window", None)
    if window is None:
        rows = prod(x[:-1])
        x, w, y = (1, 1, rows, x[-1]), (w[0], 1, 1, w[1]), (1, 1, rows, y[-1])
    return {"window": window or Window((1, 1)), "x_dims": x, "filter_dims": w, "y_dims": y}


def scales_of(site: Site) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Multipliers, those of 64-bit sums reduced, and left shifts, per output channel."""
    multipliers, shifts = requantisation(site)
    return (reduced_multiplier(multipliers) if is_wide(site) else multipliers), shifts


def nothing(site: Site) -> NDArray[np.bool_]:
    """[O]: channels whose outputs are 0 whatever the input is."""
    return np.asarray(requantisation(site)[0] == 0)


def has_short_scales(site: Site) -> bool:
    """Sums of 32 bits, right shifts from 1 to 31."""
    shifts = requantisation(site)[1][~nothing(site)]
    return not is_wide(site) and bool(shifts.max(initial=-1) < 0)


def runs_of(site: Site) -> tuple[int, int]:
    """(runs of contiguous codes in a window, codes of one): its rows, or taps that lie apart."""
    depth = rows_of(site).shape[1]
    window = getattr(site.op, "window", None)
    if window is None:
        return 1, depth
    rows, columns = window.kernel
    runs = rows if window.dilation[1] == 1 else rows * columns
    return runs, depth // runs


def live_rows(site: Site) -> NDArray[np.int64]:
    """Weights [O, taps] and, as the last column, biases; 0 of channels whose outputs are 0."""
    bias = site.constants[site.op.inputs[2]].astype(np.int64)
    rows = np.concatenate([rows_of(site), bias[:, None]], axis=1)
    return np.where(nothing(site)[:, None], 0, rows)


def fits_32_bits(weights: NDArray[np.int64]) -> bool:
    """No codes take the sum over all axes but the first out of 32 bits."""
    sums = np.abs(weights).reshape(len(weights), -1).sum(axis=1)
    return bool((sums * REACH < 2**31).all())


def tables_of(site: Site) -> Mapping[str, Array]:
    """Biases, multipliers and shifts as kernels read them that requantise in any way."""
    multipliers, shifts = scales_of(site)
    bias = site.constants[site.op.inputs[2]]
    return {"bias": bias, "multiplier": multipliers, "shift": shifts}
