"""Moving rows, and means from running sums, against numpy."""

import ctypes

import numpy as np
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, SUCCESS


@fuzz(generator(), st.integers(0, 90), st.integers(1, 40), st.integers(0, 3))
def test_move_down_is_a_copy(glue, rng, count, distance, start):
    memory = codes(rng, start + distance + count)
    expected = memory.copy()
    expected[start : start + count] = memory[start + distance :]
    base = memory.ctypes.data + start
    to, origin = ctypes.c_void_p(base), ctypes.c_void_p(base + distance)
    glue.call("glue_move_down_s8", to, origin, count, returns=None)
    np.testing.assert_array_equal(memory, expected)


@fuzz(generator(), st.integers(1, 5), st.integers(1, 9), st.integers(1, 9))
def test_sums_of_rows(glue, rng, height, width, channels):
    x = codes(rng, height, width, channels)
    sums = np.full(channels, 12345, np.int32)
    for i in range(height):
        row = np.ascontiguousarray(x[i])
        assert glue.call("glue_row_sums_s8", row, width, channels, int(i > 0), sums) == SUCCESS
    np.testing.assert_array_equal(sums, x.sum(axis=(0, 1), dtype=np.int32))


@fuzz(generator(), st.integers(1, 300), st.integers(1, 9))
def test_means_of_sums(glue, rng, count, channels):
    sums = rng.integers(-128 * count, 127 * count + 1, channels, np.int32)
    low, high = sorted(rng.integers(-128, 128, 2).tolist())
    half = count // 2
    means = np.sign(sums) * ((np.abs(sums.astype(np.int64)) + half) // count)
    got = glue.run("glue_sums_mean_s8", sums, channels, count, low, high, ..., size=channels)
    np.testing.assert_array_equal(got, np.clip(means, low, high))


@fuzz(generator(), st.integers(-(2**20), 2**20), st.integers(-20, 0), st.integers(-128, 127))
def test_rescaled_sums(glue, rng, offset, shift, zero):
    sums = rng.integers(-(2**20), 2**20, 9, np.int32)
    multiplier = int(rng.integers(2**30, 2**31))
    scaled = oracle.requantize(sums.astype(np.int64) - offset, multiplier, shift) + zero
    got = glue.run(
        "glue_sums_rescaled_s8", sums, 9, offset, multiplier, shift, zero, -128, 127, ..., size=9
    )
    np.testing.assert_array_equal(got, np.clip(scaled, -128, 127))


def test_empty_rows_are_refused(glue):
    row, sums = np.zeros(4, np.int8), np.zeros(4, np.int32)
    assert glue.call("glue_row_sums_s8", row, 0, 4, 0, sums) == ARGUMENT_ERROR
    assert glue.call("glue_sums_mean_s8", sums, 4, 0, -128, 127, row) == ARGUMENT_ERROR
