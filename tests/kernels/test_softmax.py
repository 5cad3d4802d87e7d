"""Softmax and log-softmax: bit-exact against Python integers, near the real functions."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, Activation, LogSoftmaxParams, ctypes

ROW_SIZES = st.one_of(st.integers(1, 40), st.sampled_from([511, 512, 513, 1000]))


def _softmax_scale(scale: float) -> tuple[int, int, int]:
    multiplier, shift = oracle.quantize_multiplier(min(scale * 2.0**26, 2.0**31 - 1))
    return multiplier, shift, -math.floor(31 * 2.0**26 / 2.0**shift)


def _rows(rng, rows, size):
    """Random rows; one in three is constant, which gives the largest sum of exponentials."""
    x = codes(rng, rows, size)
    x[rng.random(rows) < 1 / 3] = 3
    return x


@fuzz(generator(), st.integers(1, 3), ROW_SIZES, st.floats(-12, 4))
def test_softmax_is_the_definition(glue, rng, rows, size, log_scale):
    x = _rows(rng, rows, size)
    quant = _softmax_scale(2.0**log_scale)
    expected = np.stack([oracle.softmax_row(row, *quant) for row in x])
    got = glue.run("arm_softmax_s8", x, rows, size, *quant, ..., size=x.size, returns=None)
    np.testing.assert_array_equal(got.reshape(x.shape), expected)
    glue.call("arm_softmax_s8", x, rows, size, *quant, x, returns=None)  # in place
    np.testing.assert_array_equal(x, expected)


@fuzz(generator(), st.integers(1, 60), st.floats(-8, 1))
def test_softmax_is_near_the_real_function(glue, rng, size, log_scale):
    x = codes(rng, 1, size)
    quant = _softmax_scale(2.0**log_scale)
    exact = np.exp((x[0].astype(float) - x.max()) * 2.0**log_scale)
    codes_exact = np.clip(np.round(256 * exact / exact.sum()) - 128, -128, 127)
    got = glue.run("arm_softmax_s8", x, 1, size, *quant, ..., size=size, returns=None)
    assert np.abs(got - codes_exact).max() <= 1


def _log_softmax(scale: float, output_scale: float, offset: int) -> LogSoftmaxParams:
    exps = [round(2**30 * math.exp(-scale * d)) for d in range(256)]
    ratios = scale / output_scale, math.log(2) / (2**16 * output_scale)
    shift = next(s for s in range(46, 0, -1) if all(round(r * 2.0**s) < 2**31 for r in ratios))
    return LogSoftmaxParams(
        (ctypes.c_uint32 * 256)(*exps),
        round(ratios[0] * 2.0**shift),
        round(ratios[1] * 2.0**shift),
        shift,
        offset,
        Activation(-128, 127),
    )


log_softmax_scales = st.tuples(st.floats(-10, 2), st.floats(-8, 0), st.integers(-128, 127))


@fuzz(generator(), st.integers(0, 3), ROW_SIZES, log_softmax_scales)
def test_log_softmax_is_the_definition(glue, rng, rows, size, scales):
    x = _rows(rng, rows, size)
    params = _log_softmax(2.0 ** scales[0], 2.0 ** scales[1], scales[2])
    rest = (params.diff_multiplier, params.log_multiplier, params.shift, params.output_offset)
    table = list(params.exp_table[:256])
    expected = [oracle.log_softmax_row(row, table, *rest) for row in x]
    got = glue.run("glue_log_softmax_s8", x, rows, size, params, ..., size=x.size)
    np.testing.assert_array_equal(got, np.concatenate([*expected, np.zeros(0, np.int8)]))
    assert glue.call("glue_log_softmax_s8", x, rows, size, params, x) == 0  # in place
    np.testing.assert_array_equal(x.ravel(), got)


@fuzz(generator(), st.integers(1, 60), log_softmax_scales)
def test_log_softmax_is_near_the_real_function(glue, rng, size, scales):
    x = codes(rng, 1, size)
    params = _log_softmax(2.0 ** scales[0], 2.0 ** scales[1], scales[2])
    real = (x[0].astype(float) - x.max()) * 2.0 ** scales[0]
    real -= math.log(np.exp(real).sum())
    exact = np.clip(real / 2.0 ** scales[1] + scales[2], -128, 127)
    got = glue.run("glue_log_softmax_s8", x, 1, size, params, ..., size=size)
    assert np.abs(got - exact).max() <= 0.51


@pytest.mark.parametrize("field", ["diff_multiplier", "log_multiplier", "shift"])
def test_log_softmax_refuses_negative_parameters(glue, field):
    params = _log_softmax(0.1, 1 / 16, 127)
    setattr(params, field, -1)
    x = np.zeros(4, np.int8)
    assert glue.call("glue_log_softmax_s8", x, 1, 4, params, x) == ARGUMENT_ERROR


def test_log_softmax_refuses_a_table_of_another_scale(glue):
    params = _log_softmax(0.1, 1 / 16, 127)
    params.exp_table[0] = 2**31
    x = np.zeros(4, np.int8)
    assert glue.call("glue_log_softmax_s8", x, 1, 4, params, x) == ARGUMENT_ERROR
