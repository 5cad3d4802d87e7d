"""Where the cells of a resized axis lie in the original one: ONNX's coordinate modes.

Arithmetic is float32, as in ONNX Runtime, because nearest modes decide by the last bit.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array

Floats = NDArray[np.float32]
_HALF = np.float32(0.5)


def _asymmetric(cells: Floats, scale: np.float32, _old: int) -> Array:
    return np.asarray(cells / scale)


def _half_pixel(cells: Floats, scale: np.float32, _old: int) -> Array:
    return np.asarray((cells + _HALF) / scale - _HALF)


def _pytorch_half_pixel(cells: Floats, scale: np.float32, old: int) -> Array:
    return _half_pixel(cells, scale, old) if len(cells) > 1 else np.zeros_like(cells)


def _align_corners(cells: Floats, _scale: np.float32, old: int) -> Array:
    new = len(cells)
    if new == 1:
        return np.zeros_like(cells)
    return np.asarray(cells * np.float32(old - 1) / np.float32(new - 1))


def _half_pixel_symmetric(cells: Floats, scale: np.float32, old: int) -> Array:
    adjustment = np.float32(len(cells)) / (scale * np.float32(old))
    centre = np.float32(old) / np.float32(2)
    return np.asarray(centre * (np.float32(1) - adjustment) + (cells + _HALF) / scale - _HALF)


def _tf_half_pixel_for_nn(cells: Floats, scale: np.float32, _old: int) -> Array:
    return np.asarray((cells + _HALF) / scale)


COORDINATES: dict[str, Callable[[Floats, np.float32, int], Array]] = {
    "asymmetric": _asymmetric,
    "half_pixel": _half_pixel,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "align_corners": _align_corners,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "tf_half_pixel_for_nn": _tf_half_pixel_for_nn,
}
"""coordinate_transformation_mode: position in the original axis by (cells, scale, old size)."""

NEAREST: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda x: np.ceil(x.astype(np.float64) - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x.astype(np.float64) + 0.5),
}
"""nearest_mode: cell of a position; the halves are taken exactly, in float64."""


def positions(mode: str, old: int, new: int, scale: float) -> Array:
    """Positions of `new` cells on an axis of `old` cells, not yet clipped to it.

    Args:
        mode: Key of COORDINATES.
        old: Size of the original axis.
        new: Size of the resized axis.
        scale: The node's scale of this axis (not always new / old).
    """
    return COORDINATES[mode](np.arange(new, dtype=np.float32), np.float32(scale), old)


def nearest(mode: str, where: Array, old: int) -> list[int]:
    """The cell nearest to each position, inside the axis."""
    return [int(v) for v in np.clip(NEAREST[mode](where), 0, old - 1)]
