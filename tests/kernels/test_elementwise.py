"""Addition, subtraction, multiplication and table lookup against numpy."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import clamp_range, codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, SUCCESS

LEFT_SHIFT = 20


def _sum_call(rng, size):
    """Both inputs, the quantisation of an addition from random real scales, and the output's."""
    a, b = codes(rng, size), codes(rng, size)
    scale_a, scale_b, scale_out = (float(s) for s in np.exp(rng.uniform(-4, 4, 3)))
    twice = 2 * max(scale_a, scale_b)
    first = (int(rng.integers(-127, 129)), *oracle.quantize_multiplier(scale_a / twice))
    second = (int(rng.integers(-127, 129)), *oracle.quantize_multiplier(scale_b / twice))
    out = oracle.quantize_multiplier(twice / (2**LEFT_SHIFT * scale_out))
    return a, b, first, second, (int(rng.integers(-128, 128)), *out), clamp_range(rng)


@pytest.mark.parametrize(
    ("name", "sign"), [("arm_elementwise_add_s8", 1), ("glue_elementwise_sub_s8", -1)]
)
@fuzz(rng=generator(), size=st.integers(0, 40))
def test_sum_is_the_definition(glue, name, sign, rng, size):
    a, b, first, second, out, clamp = _sum_call(rng, size)
    term_1, term_2 = oracle.add_terms(a, b, first, second, LEFT_SHIFT)
    expected = oracle.clamp(oracle.requantize(term_1 + sign * term_2, *out[1:]) + out[0], *clamp)
    tail = (*first, *second, LEFT_SHIFT, ..., *out, *clamp, size)
    np.testing.assert_array_equal(glue.run(name, a, b, *tail, size=size), expected)


@pytest.mark.parametrize("name", ["arm_elementwise_add_s8", "glue_elementwise_sub_s8"])
@pytest.mark.parametrize("onto", [0, 1])
def test_sum_in_place(glue, name, onto):
    a, b, first, second, out, clamp = _sum_call(np.random.default_rng(7), 50)
    tail = (*first, *second, LEFT_SHIFT, ..., *out, *clamp, 50)
    expected = glue.run(name, a, b, *tail, size=50)
    target = (a, b)[onto]
    assert glue.call(name, a, b, *(target if t is ... else t for t in tail)) == SUCCESS
    np.testing.assert_array_equal(target, expected)


@fuzz(rng=generator(), size=st.integers(0, 40))
def test_product_is_the_definition(glue, rng, size):
    a, b, (offset_1, *_), (offset_2, *_), (out_offset, *_), clamp = _sum_call(rng, size)
    multiplier, shift = oracle.quantize_multiplier(float(2 ** rng.uniform(-14, -2)))
    product = (a.astype(np.int64) + offset_1) * (b.astype(np.int64) + offset_2)
    expected = oracle.clamp(oracle.requantize(product, multiplier, shift) + out_offset, *clamp)
    got = glue.run(
        "arm_elementwise_mul_s8",
        a,
        b,
        offset_1,
        offset_2,
        ...,
        out_offset,
        multiplier,
        shift,
        *clamp,
        size,
        size=size,
    )
    np.testing.assert_array_equal(got, expected)


@fuzz(rng=generator(), size=st.integers(0, 300))
def test_lookup_reads_code_plus_128(glue, rng, size):
    x, table = codes(rng, size), codes(rng, 256)
    expected = table[x.astype(np.int64) + 128]
    np.testing.assert_array_equal(
        glue.run("glue_lookup_s8", x, table, ..., size, size=size), expected
    )
    assert glue.call("glue_lookup_s8", x, table, x, size) == SUCCESS  # in place
    np.testing.assert_array_equal(x, expected)


def test_negative_sizes_are_refused(glue):
    x = np.zeros(4, np.int8)
    assert glue.call("glue_lookup_s8", x, x, x, -1) == ARGUMENT_ERROR
    zeros = (0, 1 << 30, 0)
    for name in ("arm_elementwise_add_s8", "glue_elementwise_sub_s8"):
        assert glue.call(name, x, x, *zeros, *zeros, 20, x, *zeros, -128, 127, -1) == ARGUMENT_ERROR
    assert (
        glue.call("arm_elementwise_mul_s8", x, x, 0, 0, x, *zeros, -128, 127, -1) == ARGUMENT_ERROR
    )
