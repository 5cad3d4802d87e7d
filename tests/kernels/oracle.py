"""Plain numpy definitions of every kernel, written from the specification, with int64 arithmetic.

Activations are [N, H, W, C] int8 codes; offsets follow CMSIS-NN (input_offset = -zero_point).
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int8]
Wide = NDArray[np.int64]
Pair = tuple[int, int]


def high_multiply(a: Wide, b: Wide | int) -> Wide:
    """Round a * b / 2^31, halves towards plus infinity."""
    return (np.asarray(a, np.int64) * b + (1 << 30)) >> 31


def rounding_shift(value: Wide, shift: Wide | int) -> Wide:
    """Divide by 2^shift, halves away from zero."""
    half = (np.int64(1) << np.asarray(shift, np.int64)) >> 1
    return np.sign(value) * ((np.abs(value) + half) >> shift)


def requantize(value: Wide, multiplier: Wide | int, shift: Wide | int) -> Wide:
    """Scale by multiplier / 2^31 * 2^shift with both roundings."""
    value = np.asarray(value, np.int64) << np.maximum(shift, 0)
    return rounding_shift(high_multiply(value, multiplier), np.maximum(np.negative(shift), 0))


def clamp(value: Wide, low: int = -128, high: int = 127) -> Codes:
    return np.clip(value, low, high).astype(np.int8)


def windows(x: Wide, out: Pair, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair) -> Wide:
    """All windows of zero-padded [N, H, W, C] as [N, OH, OW, KH, KW, C]."""
    far = [
        (o - 1) * s + (k - 1) * d + 1
        for o, s, k, d in zip(out, stride, kernel, dilation, strict=True)
    ]
    ends = [max(f - p - size, 0) for f, p, size in zip(far, padding, x.shape[1:3], strict=True)]
    padded = np.pad(x, ((0, 0), (padding[0], ends[0]), (padding[1], ends[1]), (0, 0)))
    rows = np.arange(out[0])[:, None] * stride[0] + np.arange(kernel[0]) * dilation[0]
    cols = np.arange(out[1])[:, None] * stride[1] + np.arange(kernel[1]) * dilation[1]
    return padded[:, rows[:, None, :, None], cols[None, :, None, :], :]


def convolve(
    x: Codes,
    w: Codes,
    bias: Wide,
    offset: int,
    out: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
) -> Wide:
    """Accumulators [N, OH, OW, C_OUT] of a convolution, weights [C_OUT, KH, KW, C_IN / groups]."""
    cells = windows(x.astype(np.int64) + offset, out, w.shape[1:3], stride, padding, dilation)
    groups = x.shape[3] // w.shape[3]
    parts = [
        np.einsum("nyxhwc,ohwc->nyxo", part, weights.astype(np.int64))
        for part, weights in zip(
            np.split(cells, groups, axis=5), np.split(w, groups, axis=0), strict=True
        )
    ]
    return np.concatenate(parts, axis=3) + bias


def depthwise(
    x: Codes,
    w: Codes,
    bias: Wide,
    offset: int,
    out: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
) -> Wide:
    """Accumulators [N, OH, OW, C_OUT] of a depthwise convolution with weights [KH, KW, C_OUT]."""
    cells = windows(x.astype(np.int64) + offset, out, w.shape[:2], stride, padding, dilation)
    cells = np.repeat(cells, w.shape[2] // x.shape[3], axis=5)
    return np.einsum("nyxhwc,hwc->nyxc", cells, w.astype(np.int64)) + bias


def inside(size: Pair, out: Pair, kernel: Pair, stride: Pair, padding: Pair) -> NDArray[np.bool_]:
    """Which cells of which windows lie inside the image, [OH, OW, KH, KW]."""
    ones = np.ones((1, *size, 1), np.int64)
    return windows(ones, out, kernel, stride, padding, (1, 1))[0, ..., 0] == 1


def max_pool(x: Codes, out: Pair, kernel: Pair, stride: Pair, padding: Pair) -> Wide:
    cells = windows(x.astype(np.int64) + 1000, out, kernel, stride, padding, (1, 1))
    return cells.max(axis=(3, 4)) - 1000


def average_codes(x: Codes, out: Pair, kernel: Pair, stride: Pair, padding: Pair) -> Wide:
    """Mean of the codes inside the image, halves away from zero."""
    total = windows(x.astype(np.int64), out, kernel, stride, padding, (1, 1)).sum(axis=(3, 4))
    count = inside(x.shape[1:3], out, kernel, stride, padding).sum(axis=(2, 3))[None, :, :, None]
    return np.sign(total) * ((np.abs(total) + count // 2) // count)


def resize_linear(x: Codes, rows: Wide, columns: Wide) -> Codes:
    """[outer, H, middle, W, inner] at positions in 1/4096 cell, halves up."""
    total = x.astype(np.int64)
    for axis, where in ((1, rows), (3, columns)):
        cells = [np.minimum(where // 4096 + i, x.shape[axis] - 1) for i in (0, 1)]
        weight = (where % 4096).reshape(-1, *[1] * (4 - axis))
        first, second = (np.take(total, c, axis) for c in cells)
        total = (4096 - weight) * first + weight * second
    return ((total + 2**23) // 2**24).astype(np.int8)


def add_terms(
    a: Codes, b: Codes, first: tuple[int, int, int], second: tuple[int, int, int], left_shift: int
) -> tuple[Wide, Wide]:
    """Both terms of an addition at the common scale; triples are (offset, multiplier, shift)."""
    return tuple(
        requantize((x.astype(np.int64) + o) << left_shift, m, s)
        for x, (o, m, s) in ((a, first), (b, second))
    )


def _exp_of_negative(value: int) -> int:
    """exp(value / 2^26) in Q31 as gemmlowp defines it, on Python integers."""
    if value == 0:
        return 2**31 - 1
    quarter = 1 << 24
    rest = value % quarter - quarter
    x = (rest << 5) + (1 << 28)
    mul, div = _mul, _div
    x2 = mul(x, x)
    tail = div(mul(div(mul(x2, x2), 2) + mul(x2, x), 715827883) + x2, 1)
    result = 1895147668 + mul(1895147668, x + tail)
    factors = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
    for bit, factor in enumerate(factors):
        if (rest - value) >> (24 + bit) & 1:
            result = mul(result, factor)
    return result


def _mul(a: int, b: int) -> int:
    return (a * b + (1 << 30)) >> 31


def _div(value: int, shift: int) -> int:
    magnitude = (abs(value) + ((1 << shift) >> 1)) >> shift
    return magnitude if value >= 0 else -magnitude


def softmax_row(row: Codes, multiplier: int, shift: int, diff_min: int) -> Codes:
    """One row of softmax with output scale 1/256 and zero point -128."""
    differences = [int(code) - int(row.max()) for code in row]
    exps = [
        _exp_of_negative(_mul(d << shift, multiplier)) if d >= diff_min else None
        for d in differences
    ]
    total = sum(_div(e, 12) for e in exps if e is not None)
    headroom = 32 - total.bit_length()
    half_denominator = ((total << headroom) - 2**31 + 2**31 - 1 + 1) // 2
    y = 1515870810 + _mul(half_denominator, -1010580540)
    for _ in range(3):
        y += min(_mul(y, (1 << 29) - _mul(half_denominator, y)) * 4, 2**31 - 1)
    reciprocal = min(y * 2, 2**31 - 1)
    codes = [0 if e is None else _div(_mul(reciprocal, e), 35 - headroom) for e in exps]
    return clamp(np.array(codes, np.int64) - 128)


def log_softmax_row(
    row: Codes,
    exp_table: list[int],
    diff_multiplier: int,
    log_multiplier: int,
    shift: int,
    offset: int,
) -> Codes:
    """One row of integer log-softmax, as the manual in glue.h defines it."""
    differences = [int(row.max()) - int(code) for code in row]
    total = sum(exp_table[d] for d in differences)
    exponent = total.bit_length() - 1
    mantissa = (total << 31) >> exponent
    fraction = 0
    for _ in range(16):
        mantissa = mantissa * mantissa >> 31
        bit = mantissa >> 32
        mantissa >>= bit
        fraction = 2 * fraction + bit
    log = ((exponent - 30) << 16) + fraction
    codes = [
        offset - ((d * diff_multiplier + log * log_multiplier + (1 << (shift - 1))) >> shift)
        for d in differences
    ]
    return clamp(np.array(codes, np.int64))


def quantize_multiplier(real: float) -> tuple[int, int]:
    """The (multiplier, shift) nearest to a positive real: multiplier / 2^31 * 2^shift."""
    mantissa, shift = np.frexp(real)
    multiplier = int(Fraction(float(mantissa)) * 2**31 + Fraction(1, 2))
    if multiplier == 2**31:
        return 1 << 30, int(shift) + 1
    return multiplier, int(shift)
