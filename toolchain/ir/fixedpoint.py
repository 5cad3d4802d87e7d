"""The integer arithmetic of the int8 contract (TensorFlow Lite int8 specification, CMSIS-NN)."""

from collections.abc import Sequence
from enum import StrEnum
from math import floor, frexp, isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolchain.ir.tensor import Quant

INT8_MIN, INT8_MAX = -128, 127


class Rounding(StrEnum):
    """How often a product is rounded when it is requantised; TensorFlow Lite knows both ways."""

    DOUBLE = "double"
    """To 31 fractional bits less, and again by the right shift: CMSIS-NN's default."""
    SINGLE = "single"
    """Once: TFLITE_SINGLE_ROUNDING, CMSIS_NN_USE_SINGLE_ROUNDING, nearly ONNX Runtime."""


ROUNDING_KEY = "onnx2mcu.rounding"
"""Key of the metadata of an exported ONNX file that holds the rounding of its model."""


def quantize_multiplier(real: float) -> tuple[int, int]:
    """Split real >= 0 into (Q31 mantissa, left shift): real ~ mantissa * 2**(shift - 31).

    The mantissa is in [2**30, 2**31). Values below 2**-32 become (0, 0), as in CMSIS-NN's
    reference; a shift above 30 cannot be represented and raises ValueError.
    """
    if not isfinite(real) or real < 0:
        raise ValueError(f"multiplier {real} is not a finite number >= 0")
    if real == 0:
        return 0, 0
    fraction, shift = frexp(real)
    mantissa = floor(fraction * 2**31 + 0.5)
    if mantissa == 2**31:
        mantissa, shift = mantissa // 2, shift + 1
    if shift < -31:
        return 0, 0
    if shift > 30:
        raise ValueError(f"multiplier {real:g} is above 2**30")
    return mantissa, shift


def quantize_multipliers(reals: Sequence[float]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """quantize_multiplier over a sequence: (mantissas, shifts)."""
    pairs = [quantize_multiplier(real) for real in reals]
    return (
        np.array([m for m, _ in pairs], np.int32),
        np.array([s for _, s in pairs], np.int32),
    )


def doubling_high_multiply(value: ArrayLike, multiplier: ArrayLike) -> NDArray[np.int64]:
    """Rounded high half of 2*value*multiplier: (v*m + 2**30) >> 31."""
    product = np.asarray(value, np.int64) * np.asarray(multiplier, np.int64)
    return np.asarray((product + (1 << 30)) >> 31, np.int64)


def rounding_right_shift(value: NDArray[np.int64], shift: ArrayLike) -> NDArray[np.int64]:
    """value / 2**shift rounded to nearest, ties away from zero (shift >= 0)."""
    shift = np.asarray(shift, np.int64)
    mask = (np.int64(1) << shift) - 1
    remainder = value & mask
    threshold = (mask >> 1) + (value < 0)
    return np.asarray((value >> shift) + (remainder > threshold), np.int64)


def requantize(
    value: NDArray[np.int64], multiplier: ArrayLike, shift: ArrayLike, rounding: Rounding
) -> NDArray[np.int64]:
    """value * multiplier * 2**(shift - 31), as an integer.

    DOUBLE: left shift, doubling high multiply (halves up), right shift (halves away from zero).
    SINGLE: the product is rounded once, halves up. Without a right shift both are the same.

    Args:
        value: int32 accumulators held as int64.
        multiplier: Q31 mantissas, broadcast against value.
        shift: Left shifts (negative: right), -31 to 30, broadcast against value.
        rounding: How often to round.
    """
    shift = np.asarray(shift, np.int64)
    if rounding is Rounding.SINGLE:
        product = np.asarray(value, np.int64) * np.asarray(multiplier, np.int64)
        return np.asarray((product + (np.int64(1) << (30 - shift))) >> (31 - shift), np.int64)
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    value = np.asarray(value, np.int64)
    product = np.asarray((value << left if left.any() else value) * np.asarray(multiplier))
    product += 1 << 30
    product >>= 31
    # nearest, ties away from zero: half a step up, one unit less below zero
    half = np.where(right > 0, np.int64(1) << np.maximum(right - 1, 0), 0)
    product += np.where(right > 0, product >> 63, 0)
    product += half
    product >>= right
    return product


def saturate(
    value: NDArray[np.int64], low: int = INT8_MIN, high: int = INT8_MAX
) -> NDArray[np.int8]:
    """Clamp to [low, high] and store as int8."""
    return np.clip(value, low, high).astype(np.int8)


def quantize(real: ArrayLike, quant: Quant) -> NDArray[np.int8]:
    """Real values to int8 codes, per tensor, rounding half away from zero.

    The arithmetic is float32 throughout, so the C helper of the generated header gives the same.
    """
    scaled = np.asarray(real, np.float32) / np.float32(quant.scale)
    bounded = np.clip(scaled, np.float32(-1024), np.float32(1024))
    rounded = np.trunc(bounded + np.copysign(np.float32(0.5), bounded))
    return saturate(rounded.astype(np.int64) + quant.zero_point)


def dequantize(codes: ArrayLike, quant: Quant) -> NDArray[np.float32]:
    """int8 codes to real values, per tensor."""
    return ((np.asarray(codes, np.float64) - quant.zero_point) * quant.scale).astype(np.float32)


def quant_from_range(low: float, high: float) -> Quant:
    """Asymmetric int8 parameters that cover [low, high] and represent 0 exactly.

    A range that is empty, or too small for a float32 scale, gets scale 1/128 around 0 (R3).
    """
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / 255.0
    if not isfinite(scale) or scale < 2.0**-100:
        return Quant((1.0 / 128,), 0)
    scale = float(np.float32(scale))
    zero_point = floor(INT8_MIN - low / scale + 0.5)
    return Quant((scale,), min(max(zero_point, INT8_MIN), INT8_MAX))


def activation_codes(quant: Quant, low: float | None, high: float | None) -> tuple[int, int]:
    """Clamp bounds in codes for a fused activation clip(x, low, high); None means open."""
    lo = INT8_MIN if low is None else int(quantize(low, quant))
    hi = INT8_MAX if high is None else int(quantize(high, quant))
    return lo, max(lo, hi)


def clip(values: NDArray[np.float64], low: float | None, high: float | None) -> NDArray[np.float64]:
    """Values clipped to [low, high], where None means open."""
    if low is None and high is None:
        return values
    return np.clip(values, low, high)
