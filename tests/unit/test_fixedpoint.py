"""The integer arithmetic of the int8 contract, against exact rational arithmetic (R33)."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolchain.ir import Quant
from toolchain.ir.fixedpoint import (
    Rounding,
    activation_codes,
    clip,
    dequantize,
    doubling_high_multiply,
    quant_from_range,
    quantize,
    quantize_multiplier,
    quantize_multipliers,
    requantize,
    rounding_right_shift,
    saturate,
)

INT32 = st.integers(-(2**31), 2**31 - 1)
MANTISSA = st.integers(2**30, 2**31 - 1)


@given(st.floats(2.0**-31, 2.0**30 * 0.999))
def test_r33_multiplier_is_normalised_and_exact_to_31_bits(real):
    mantissa, shift = quantize_multiplier(real)
    assert 2**30 <= mantissa < 2**31
    assert -31 <= shift <= 30
    exact = Fraction(real)
    assert abs(Fraction(mantissa) * Fraction(2) ** (shift - 31) - exact) <= exact / 2**31


@pytest.mark.parametrize(
    ("real", "pair"),
    [
        (1.0, (2**30, 1)),
        (0.5, (2**30, 0)),
        (1.0 - 2.0**-40, (2**30, 1)),
        (2.0**-32, (2**30, -31)),
        (2.0**-33, (0, 0)),
        (0.0, (0, 0)),
        (5e-324, (0, 0)),
        (2.0**29, (2**30, 30)),
    ],
)
def test_r33_multiplier_at_the_ends_of_its_range(real, pair):
    assert quantize_multiplier(real) == pair


@pytest.mark.parametrize("real", [-1.0, float("nan"), float("inf"), 2.0**30, 1e300])
def test_r33_impossible_multipliers_are_errors(real):
    with pytest.raises(ValueError, match="multiplier"):
        quantize_multiplier(real)


def test_multipliers_of_a_sequence_are_those_of_its_elements():
    mantissas, shifts = quantize_multipliers([0.25, 0.0, 3.0])
    assert mantissas.dtype == shifts.dtype == np.int32
    pairs = list(zip(mantissas.tolist(), shifts.tolist(), strict=True))
    assert pairs == [quantize_multiplier(r) for r in (0.25, 0.0, 3.0)]


@given(INT32, MANTISSA)
def test_high_multiply_rounds_half_up(value, mantissa):
    exact = Fraction(value * mantissa, 2**31)
    assert int(doubling_high_multiply(value, mantissa)) == floor(exact + Fraction(1, 2))


@given(INT32, st.integers(0, 31))
def test_right_shift_rounds_half_away_from_zero(value, shift):
    exact = Fraction(abs(value), 2**shift)
    expected = floor(exact + Fraction(1, 2)) * (1 if value >= 0 else -1)
    assert int(rounding_right_shift(np.int64(value), shift)) == expected


def _nearest(numerator: int, bits: int, *, away: bool) -> int:
    """numerator / 2**bits rounded to the nearest integer, halves away from zero or upwards."""
    if away and numerator < 0:
        return -_nearest(-numerator, bits, away=True)
    return (2 * numerator + 2**bits) // 2 ** (bits + 1)


def _in_integers(value: int, mantissa: int, shift: int, rounding: Rounding) -> int:
    """The contract in Python's integers, which have no limits."""
    if rounding is Rounding.SINGLE:
        return _nearest(value * mantissa, 31 - shift, away=False)
    high = _nearest(value * 2 ** max(shift, 0) * mantissa, 31, away=False)
    return _nearest(high, max(-shift, 0), away=True)


@settings(max_examples=500)
@given(INT32, MANTISSA | st.just(0), st.integers(-31, 30), st.sampled_from(Rounding))
def test_requantisation_is_that_of_exact_integers(value, mantissa, shift, rounding):
    value >>= max(shift, 0)
    expected = _in_integers(value, mantissa, shift, rounding)
    assert int(requantize(np.int64(value), mantissa, shift, rounding)) == expected


@given(st.integers(-(2**9), 2**9), st.integers(1, 20), st.sampled_from(Rounding))
def test_requantisation_of_halves(odd, shift, rounding):
    """Multiplier 1/2: the product is exact, and (2 odd + 1) / 2 lies between two integers."""
    value = (2 * odd + 1) << (shift - 1)
    up = odd + 1 if rounding is Rounding.SINGLE or odd >= 0 else odd
    assert int(requantize(np.int64(value << 1), 2**30, -shift, rounding)) == up


@given(INT32, MANTISSA, st.integers(0, 30))
def test_without_a_right_shift_both_roundings_are_one(value, mantissa, shift):
    value >>= shift
    once, twice = (requantize(np.int64(value), mantissa, shift, r) for r in Rounding)
    assert once == twice


def test_the_second_rounding_moves_a_code():
    """3/8: 3/4 becomes 1, and half of that 1 again."""
    codes = {r: int(requantize(np.int64(1), 3 * 2**29, -1, r)) for r in Rounding}
    assert codes == {Rounding.DOUBLE: 1, Rounding.SINGLE: 0}


@pytest.mark.parametrize("rounding", Rounding)
def test_requantisation_broadcasts_over_channels(rounding):
    values = np.array([[100, 100], [-100, 7]], np.int64)
    mantissas, shifts = quantize_multipliers([0.5, 2.0])
    codes = requantize(values, mantissas, shifts, rounding)
    np.testing.assert_array_equal(codes, [[50, 200], [-50, 14]])


@pytest.mark.parametrize(
    ("real", "code"), [(0.5, 1), (-0.5, -1), (1.5, 2), (2.5, 3), (-2.5, -3), (0.49, 0), (1e9, 127)]
)
def test_quantisation_rounds_half_away_from_zero_and_saturates(real, code):
    assert int(quantize(real, Quant((1.0,), 0))) == code


@given(st.floats(-1e6, 1e6, width=32), st.floats(2.0**-20, 1024, width=32), st.integers(-128, 127))
def test_quantisation_is_within_half_a_step_inside_the_range(real, scale, zero):
    quant = Quant((float(np.float32(scale)),), zero)
    code = int(quantize(real, quant))
    step = real / quant.scale
    if -128 - zero <= step <= 127 - zero:
        assert abs(code - zero - step) <= 0.5 + 1e-4
    assert -128 <= code <= 127


@given(st.integers(-128, 127), st.floats(1e-6, 1e3), st.integers(-128, 127))
def test_codes_survive_the_way_to_real_values_and_back(code, scale, zero):
    quant = Quant((float(np.float32(scale)),), zero)
    assert int(quantize(dequantize(code, quant), quant)) == code


@settings(max_examples=300)
@given(st.floats(-1e30, 1e30), st.floats(-1e30, 1e30))
def test_r3_parameters_of_any_range_are_valid_and_hold_zero(one, other):
    low, high = sorted((one, other))
    quant = quant_from_range(low, high)
    assert np.isfinite(quant.scale)
    assert quant.scale > 0
    assert quant.scale == float(np.float32(quant.scale))
    assert -128 <= quant.zero_point <= 127
    assert float(dequantize(quant.zero_point, quant)) == 0
    if high - low > 1e-20:
        reach = dequantize([-128, 127], quant)
        assert reach[0] <= min(low, 0) + quant.scale
        assert reach[1] >= max(high, 0) - quant.scale


@pytest.mark.parametrize("span", [(0.0, 0.0), (1e-40, 2e-40), (float("nan"),) * 2, (0, np.inf)])
def test_r3_ranges_that_are_empty_or_no_numbers_have_a_valid_scale(span):
    assert quant_from_range(*span) == Quant((1 / 128,), 0)


def test_r4_activation_bounds_are_codes_and_open_ends_are_int8s():
    quant = Quant((0.1,), -10)
    assert activation_codes(quant, None, None) == (-128, 127)
    assert activation_codes(quant, 0.0, None) == (-10, 127)
    assert activation_codes(quant, 0.0, 6.0) == (-10, 50)
    assert activation_codes(quant, -100.0, 100.0) == (-128, 127)


def test_saturation_stores_int8():
    codes = saturate(np.array([-1000, 5, 1000], np.int64), -3, 4)
    assert codes.dtype == np.int8
    assert codes.tolist() == [-3, 4, 4]


def test_clip_with_open_bounds_leaves_values_alone():
    values = np.array([-1.0, 2.0])
    assert clip(values, None, None) is values
    assert clip(values, None, 0.5).tolist() == [-1.0, 0.5]
