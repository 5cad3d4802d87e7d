"""Reductions against numpy and Python's exact integers."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import clamp_range, codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, Activation, Structure, c_int32

blocks = st.tuples(st.integers(0, 4), st.integers(1, 60), st.integers(1, 5))


class ReduceParams(Structure):
    _fields_ = (
        *((n, c_int32) for n in ("input_offset", "output_offset", "multiplier", "shift")),
        ("activation", Activation),
        ("reduction", c_int32),
    )


@fuzz(generator(), blocks, st.booleans())
def test_extremes_are_numpys(glue, rng, blocks, largest):
    x = codes(rng, *blocks)
    low, high = clamp_range(rng)
    best = x.max(axis=1) if largest else x.min(axis=1)
    activation = Activation(low, high)
    got = glue.run(
        "glue_reduce_extreme_s8", x, *blocks, int(largest), activation, ..., size=best.size
    )
    np.testing.assert_array_equal(got, np.clip(best, low, high).ravel())


@fuzz(generator(), blocks, st.booleans(), st.booleans())
def test_indices_of_extremes_are_numpys(glue, rng, blocks, largest, last):
    x = rng.integers(-3, 3, blocks).astype(np.int8)  # ties are common
    ordered = np.flip(x, 1) if last else x
    best = ordered.argmax(axis=1) if largest else ordered.argmin(axis=1)
    expected = blocks[1] - 1 - best if last else best
    got = glue.run(
        "glue_arg_extreme_s8", x, *blocks, int(largest), int(last), ..., size=expected.size
    )
    np.testing.assert_array_equal(got, expected.ravel() - 128)


def test_the_last_of_256_has_an_index(glue):
    x = np.arange(-128, 128).astype(np.int8)
    assert glue.run("glue_arg_extreme_s8", x, 1, 256, 1, 1, 0, ..., size=1) == 127
    assert glue.call("glue_arg_extreme_s8", x, 1, 257, 1, 1, 0, x.copy()) == ARGUMENT_ERROR


def _sums(values, reduction):
    """Exact accumulators of the middle axis."""
    if reduction == 0:
        return values.sum(axis=1)
    if reduction == 1:
        return np.abs(values).sum(axis=1)
    squares = (values * values).sum(axis=1)
    if reduction == 2:
        return squares
    return np.array([math.isqrt(int(s) << 16) for s in squares.ravel()]).reshape(squares.shape)


@pytest.mark.parametrize("reduction", range(4))
@fuzz(generator(), blocks)
def test_sums_are_the_definition(glue, reduction, rng, blocks):
    x = codes(rng, *blocks)
    offset = int(rng.integers(-127, 129))
    acc = _sums(x.astype(np.int64) + offset, reduction)
    quant = oracle.quantize_multiplier(100.0 / (float(np.abs(acc).max(initial=1)) + 1))
    low, high = clamp_range(rng)
    expected = oracle.clamp(oracle.requantize(acc, *quant) + 5, low, high)
    params = ReduceParams(offset, 5, *quant, Activation(low, high), reduction)
    got = glue.run("glue_reduce_sum_s8", params, x, *blocks, ..., size=expected.size)
    np.testing.assert_array_equal(got, expected.ravel())


@pytest.mark.parametrize("reduction", [2, 3])
def test_the_largest_sum_of_squares_fits(glue, reduction):
    x = np.full((1, 33000, 1), 127, np.int8)
    exact = _sums(x.astype(np.int64) + 128, reduction)[0, 0]
    quant = oracle.quantize_multiplier(100.0 / exact)
    params = ReduceParams(128, 0, *quant, Activation(-128, 127), reduction)
    assert glue.run("glue_reduce_sum_s8", params, x, *x.shape, ..., size=1)[0] == 100


@pytest.mark.parametrize("blocks", [(-1, 1, 1), (1, 0, 1), (1, 1, 0), (1, 33001, 1)])
def test_sizes_out_of_range_are_refused(glue, blocks):
    x = np.zeros(8, np.int8)
    params = ReduceParams(multiplier=1 << 30)
    assert glue.call("glue_reduce_sum_s8", params, x, *blocks, x.copy()) == ARGUMENT_ERROR
    if blocks[1] <= 33000:
        status = glue.call("glue_reduce_extreme_s8", x, *blocks, 1, Activation(-128, 127), x.copy())
        assert status == ARGUMENT_ERROR
