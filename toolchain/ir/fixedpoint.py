"""The integer arithmetic of int8 and int16 codes (TensorFlow Lite specification, CMSIS-NN)."""

from collections.abc import Sequence
from enum import StrEnum
from math import floor, frexp, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolchain.ir.tensor import DType, Quant, TensorType

INT8_MIN, INT8_MAX = -128, 127

Codes = NDArray[Any]
"""int8 or int16 codes."""


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


def reduced_multiplier(multiplier: NDArray[np.int32]) -> NDArray[np.int32]:
    """Q31 mantissas as Q15 ones, at most 2**15 - 1: those of CMSIS-NN's 64-bit accumulators."""
    wide = multiplier.astype(np.int64)
    return np.asarray(np.minimum((wide + (1 << 15)) >> 16, (1 << 15) - 1), np.int32)


def requantize_wide(
    value: NDArray[np.int64], multiplier: ArrayLike, shift: ArrayLike
) -> NDArray[np.int64]:
    """value * multiplier * 2**(shift - 15), rounded once, halves up: arm_nn_requantize_s64.

    Args:
        value: 64-bit accumulators; value * multiplier fits in 64 bits.
        multiplier: Q15 mantissas (reduced_multiplier), broadcast against value.
        shift: Left shifts (negative: right), -31 to 14, broadcast against value.
    """
    product = np.asarray(value, np.int64) * np.asarray(multiplier, np.int64)
    reduced = product >> (14 - np.asarray(shift, np.int64))
    return np.asarray((reduced + 1) >> 1, np.int64)


def saturate(
    value: NDArray[np.int64],
    low: int = INT8_MIN,
    high: int = INT8_MAX,
    dtype: DType = DType.INT8,
) -> Codes:
    """Clamp to [low, high] and store as codes of a type."""
    return np.asarray(np.clip(value, low, high).astype(dtype.value))


def quantize(real: ArrayLike, quant: Quant, dtype: DType = DType.INT8) -> Codes:
    """Real values to codes, per tensor, rounding half away from zero.

    The arithmetic is float32 throughout, so the C helper of the generated header gives the same.
    """
    scaled = np.asarray(real, np.float32) / np.float32(quant.scale)
    bound = np.float32(quantize_bound(dtype))
    bounded = np.clip(scaled, -bound, bound)
    rounded = np.trunc(bounded + np.copysign(np.float32(0.5), bounded))
    return saturate(rounded.astype(np.int64) + quant.zero_point, *dtype.limits, dtype)


def quantize_bound(dtype: DType) -> int:
    """Steps from zero beyond which every value has the outermost code."""
    return 4 << (8 * dtype.nbytes)


def quantize_as(real: ArrayLike, kind: TensorType) -> Codes:
    """Real values to the codes of a quantised tensor."""
    return quantize(real, kind.q, kind.dtype)


def random_codes(kind: TensorType, rng: np.random.Generator) -> Codes:
    """Codes of a tensor, each equally likely."""
    return rng.integers(*kind.dtype.limits, kind.shape, kind.dtype.value, endpoint=True)


def dequantize(codes: ArrayLike, quant: Quant) -> NDArray[np.float32]:
    """Codes to real values, per tensor."""
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


def symmetric_from_range(low: float, high: float) -> Quant:
    """Symmetric int16 parameters, zero point 0, that cover [low, high].

    A range that is empty, or too small for a float32 scale, gets scale 1/32768.
    """
    scale = max(abs(low), abs(high)) / DType.INT16.limits[1]
    if not isfinite(scale) or scale < 2.0**-100:
        return symmetric(2.0**-15)
    return symmetric(float(np.float32(scale)))


def symmetric(scale: float) -> Quant:
    """Parameters of int16 codes."""
    return Quant((scale,), 0, None, DType.INT16)


def activation_codes(
    quant: Quant, low: float | None, high: float | None, dtype: DType = DType.INT8
) -> tuple[int, int]:
    """Clamp bounds in codes for a fused activation clip(x, low, high); None means open."""
    lowest, highest = dtype.limits
    lo = lowest if low is None else int(quantize(low, quant, dtype))
    hi = highest if high is None else int(quantize(high, quant, dtype))
    return lo, max(lo, hi)


def clamp_codes(kind: TensorType, low: float | None, high: float | None) -> tuple[int, int]:
    """activation_codes of a quantised tensor."""
    return activation_codes(kind.q, low, high, kind.dtype)


def clip(values: NDArray[np.float64], low: float | None, high: float | None) -> NDArray[np.float64]:
    """Values clipped to [low, high], where None means open."""
    if low is None and high is None:
        return values
    return np.clip(values, low, high)
