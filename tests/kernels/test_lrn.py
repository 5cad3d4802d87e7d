"""Local response normalisation: bit-exact against Python integers, near the real function."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels.cases import codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, POINTER, Structure, c_int32, ints
from toolchain.ir import DType, Quant, TensorType
from toolchain.ops.lrn import Lrn

FIELDS = ("input_offset", "output_offset", "before", "after", "base", "multiplier", "shift")
TABLES = ("factors", "shifts", "fractions")


class LrnParams(Structure):
    _fields_ = (
        *((n, c_int32) for n in FIELDS),
        *((n, POINTER(c_int32)) for n in TABLES),
    )


def _scaled(params, tables, value, squares):
    factors, shifts, fractions = tables
    power = params.base + (squares * params.multiplier >> params.shift)
    leading = power.bit_length() - 1
    mantissa = power * 2 ** (31 - leading)
    i, rest = mantissa >> 26 & 31, mantissa >> 10 & 0xFFFF
    fraction = fractions[i] + ((fractions[i + 1] - fractions[i]) * rest >> 16)
    factor, shift = fraction * factors[leading] >> 30, shifts[leading]
    return value * factor + 2 ** (shift - 1) >> shift


def _expected(x, params, tables):
    result = np.zeros(x.shape, np.int8)
    for pixel, row in enumerate(x):
        values = [int(v) + params.input_offset for v in row]
        for c, value in enumerate(values):
            around = values[max(c - params.before, 0) : c + params.after + 1]
            code = _scaled(params, tables, value, sum(v * v for v in around))
            result[pixel, c] = min(max(code + params.output_offset, -128), 127)
    return result


def _params(rng, **fixed):
    factors = [int(v) for v in rng.integers(0, 2**31, 31)]
    shifts = [int(v) for v in rng.integers(1, 63, 31)]
    fractions = [int(v) for v in np.sort(rng.integers(0, 2**30 + 1, 33))[::-1]]
    values = {
        "input_offset": int(rng.integers(-127, 129)),
        "output_offset": int(rng.integers(-128, 128)),
        "before": int(rng.integers(0, 5)),
        "after": int(rng.integers(0, 5)),
        "base": int(rng.choice([1, 1000, 2**30])),
        "multiplier": int(rng.integers(0, 2**31)),
        "shift": int(rng.integers(21, 63)),  # 9 squares of at most 255 stay below 2**30
    } | fixed
    tables = factors, shifts, fractions
    return LrnParams(*(values[n] for n in FIELDS), *map(ints, tables)), tables


@fuzz(generator(), st.integers(0, 3), st.integers(1, 20))
def test_local_response_normalisation_is_the_definition(glue, rng, pixels, channels):
    x = codes(rng, pixels, channels)
    params, tables = _params(rng)
    expected = _expected(x, params, tables)
    got = glue.run("glue_lrn_s8", params, x, pixels, channels, ..., size=x.size)
    np.testing.assert_array_equal(got.reshape(x.shape), expected)


@fuzz(
    generator(),
    st.integers(1, 60),
    st.integers(1, 40),
    st.floats(-8, 4),
    st.sampled_from([1e-4, 0.05, 3.0]),
    st.sampled_from([0.5, 0.75, 1.0, 2.0]),
    st.sampled_from([0.01, 1.0, 50.0]),
)
def test_integers_are_near_the_real_function(rng, channels, size, log_scale, alpha, beta, bias):
    """Within half a step of the output and what straight lines between the fractions leave."""
    codes_in = codes(rng, 1, channels)
    x = TensorType((1, channels), DType.INT8, Quant((2.0**log_scale,), 3))
    op = Lrn("lrn", ("x",), ("y",), size, alpha, beta, bias)
    real = (codes_in.astype(np.float64) - 3) * 2.0**log_scale
    (exact,) = op.evaluate(real)
    step = float(np.float32(max(np.abs(exact).max(), 1e-30) / 100))
    types = {"x": x, "y": TensorType((1, channels), DType.INT8, Quant((step,), -2))}
    (got,) = op.simulate(types, codes_in)
    bend = beta * (beta + 1) / 8 / 32**2
    assert np.abs(got.astype(np.float64) + 2 - exact / step).max() <= 0.5 + 100 * (bend + 2**-12)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base", 0), ("multiplier", -1), ("shift", 0), ("shift", 63), ("before", -1),
        ("after", 33000),
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(glue, field, value):
    params, _ = _params(np.random.default_rng(0), **{field: value})
    x = np.zeros(4, np.int8)
    assert glue.call("glue_lrn_s8", params, x, 1, 4, x.copy()) == ARGUMENT_ERROR


@pytest.mark.parametrize("shape", [(-1, 4), (1, 0)])
def test_shapes_out_of_range_are_refused(glue, shape):
    params, _ = _params(np.random.default_rng(0))
    x = np.zeros(4, np.int8)
    assert glue.call("glue_lrn_s8", params, x, *shape, x.copy()) == ARGUMENT_ERROR
