"""Normalisation: bit-exact against Python integers, near the real function."""

import ctypes
import math

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels.cases import clamp_range, codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, POINTER, Activation, Structure, c_int32, ints

shapes = st.tuples(st.integers(0, 3), st.integers(1, 6), st.integers(1, 4), st.integers(1, 7))


class NormalizeParams(Structure):
    _fields_ = (
        *((n, c_int32) for n in ("input_offset", "output_offset", "subtract_mean", "shift")),
        ("epsilon", ctypes.c_uint64),
        ("activation", Activation),
        ("table_size", c_int32),
        ("gain", POINTER(c_int32)),
        ("bias", POINTER(c_int32)),
    )


def _normal(values: list[int], subtract_mean: bool, epsilon: int) -> list[int]:
    """One row with 20 fractional bits, as the manual in glue.h defines it."""
    count, total = len(values), sum(values) if subtract_mean else 0
    power = count * sum(v * v for v in values) - total * total + epsilon
    if power == 0:
        return [0] * count
    e = 0
    while power * 4**e < 2**60:
        e += 1
    factor = 2**61 // math.isqrt(power * 4**e)
    return [((count * v - total) * factor + 2 ** (40 - e)) >> (41 - e) for v in values]


def _expected(x, params, gain, bias, low, high):
    outer, _, groups, depth = x.shape
    result = np.zeros(x.shape, np.int8)
    for o, g in np.ndindex(outer, groups):
        row = [int(v) + params.input_offset for v in x[o, :, g].ravel()]
        for place, normal in enumerate(_normal(row, params.subtract_mean, params.epsilon)):
            s, d = divmod(place, depth)
            c = 0 if len(gain) == 1 else g * depth + d
            total = normal * int(gain[c]) + int(bias[c]) * 2 ** (params.shift - 16)
            code = ((total + 2 ** (params.shift - 1)) >> params.shift) + params.output_offset
            result[o, s, g, d] = min(max(code, low), high)
    return result


def _params(rng, channels, epsilon=None, clamp=(-128, 127)):
    entries = int(rng.choice([1, channels]))
    shift = int(rng.integers(30, 40))
    largest = min(2.0 ** (shift - 20 + 6), 2.0**31 - 1)
    gain = rng.uniform(-largest, largest, entries).astype(np.int64)
    bias = rng.integers(-(2**22), 2**22, entries)
    if epsilon is None:
        epsilon = int(rng.choice([0, 1, 1000, 2**40, 2**60]))
    params = NormalizeParams(
        int(rng.integers(-127, 129)), int(rng.integers(-128, 128)), int(rng.integers(2)), shift,
        epsilon, Activation(*clamp), entries, ints(gain), ints(bias),
    )  # fmt: skip
    return params, gain, bias


@fuzz(generator(), shapes)
def test_normalisation_is_the_definition(glue, rng, shape):
    x = codes(rng, *shape)
    if rng.integers(4) == 0:
        x[...] = 7  # no variance
    clamp = clamp_range(rng)
    params, gain, bias = _params(rng, shape[2] * shape[3], clamp=clamp)
    expected = _expected(x, params, gain, bias, *clamp)
    got = glue.run("glue_normalize_s8", params, x, *shape, ..., size=x.size)
    np.testing.assert_array_equal(got.reshape(shape), expected)
    assert glue.call("glue_normalize_s8", params, x, *shape, x) == 0  # in place
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("subtract_mean", [0, 1])
@pytest.mark.parametrize("epsilon", [0, 2**60])
@pytest.mark.parametrize("kind", ["one spike", "extremes", "all high"])
def test_the_longest_row_is_exact(glue, subtract_mean, epsilon, kind):
    x = np.full((1, 1, 1, 65536), -128, np.int8)
    if kind == "one spike":
        x[..., 0] = 127
    elif kind == "extremes":
        x[..., ::2] = 127
    else:
        x[...] = 127
    params, gain, bias = _params(np.random.default_rng(3), 1, epsilon)
    params.input_offset, params.subtract_mean = 128, subtract_mean
    expected = _expected(x, params, gain, bias, -128, 127)
    got = glue.run("glue_normalize_s8", params, x, *x.shape, ..., size=x.size)
    np.testing.assert_array_equal(got.reshape(x.shape), expected)


@fuzz(generator(), st.integers(2, 200), st.floats(-8, 2), st.sampled_from([1e-5, 1e-3]))
def test_normalisation_is_near_the_real_function(glue, rng, size, log_scale, epsilon):
    x, scale, step = codes(rng, 1, 1, 1, size), 2.0**log_scale, 1 / 40
    shift = 35
    params = NormalizeParams(
        0, 0, 1, shift, min(round(epsilon * (size / scale) ** 2), 2**60), Activation(-128, 127), 1,
        ints([round(2.0 ** (shift - 20) / step)]), ints([0]),
    )  # fmt: skip
    real = x[0, 0, 0].astype(float) * scale
    exact = (real - real.mean()) / np.sqrt(real.var() + epsilon) / step
    got = glue.run("glue_normalize_s8", params, x, *x.shape, ..., size=size)
    assert np.abs(got - np.clip(exact, -128, 127)).max() <= 0.51


@pytest.mark.parametrize(
    ("field", "value"), [("shift", 15), ("shift", 47), ("epsilon", 2**60 + 1), ("table_size", 3)]
)
def test_parameters_out_of_range_are_refused(glue, field, value):
    params, _, _ = _params(np.random.default_rng(0), 1)
    setattr(params, field, value)
    x = np.zeros(4, np.int8)
    assert glue.call("glue_normalize_s8", params, x, 1, 1, 1, 4, x.copy()) == ARGUMENT_ERROR


@pytest.mark.parametrize("shape", [(-1, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 2, 1, 32769)])
def test_rows_out_of_range_are_refused(glue, shape):
    params, _, _ = _params(np.random.default_rng(0), 1)
    x = np.zeros(4, np.int8)
    assert glue.call("glue_normalize_s8", params, x, *shape, x.copy()) == ARGUMENT_ERROR
