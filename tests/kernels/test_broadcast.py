"""Operators on tensors that broadcast, PRelu, sums and extremes of many, against numpy."""

import ctypes
from ctypes import POINTER, Structure, c_int32

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import clamp_range, codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, SUCCESS, Activation, ints

LEFT_SHIFT, QUOTIENT_SHIFT, LARGEST = 20, 15, 2**23 - 1
MAX_RANK = 8


class Loops(Structure):
    _fields_ = (
        ("rank", c_int32),
        ("dims", POINTER(c_int32)),
        ("a_steps", POINTER(c_int32)),
        ("b_steps", POINTER(c_int32)),
    )


class SumParams(Structure):
    _fields_ = (
        *((n, c_int32) for n in ("a_offset", "a_multiplier", "a_shift")),
        *((n, c_int32) for n in ("b_offset", "b_multiplier", "b_shift", "left_shift")),
        *((n, c_int32) for n in ("output_offset", "output_multiplier", "output_shift")),
        ("activation", Activation),
    )


class ProductParams(Structure):
    _fields_ = (
        *((n, c_int32) for n in ("a_offset", "b_offset", "output_offset", "multiplier", "shift")),
        ("activation", Activation),
    )


class QuotientParams(Structure):
    _fields_ = (
        ("a_offset", c_int32),
        ("output_offset", c_int32),
        ("reciprocals", POINTER(c_int32)),
        ("activation", Activation),
    )


class PreluParams(Structure):
    _fields_ = (
        *((n, c_int32) for n in ("input_offset", "slope_offset", "output_offset")),
        *((n, c_int32) for n in ("positive_multiplier", "positive_shift")),
        *((n, c_int32) for n in ("negative_multiplier", "negative_shift")),
    )


class TermsParams(Structure):
    _fields_ = (
        ("terms", c_int32),
        *((n, POINTER(c_int32)) for n in ("offsets", "multipliers", "shifts")),
        *((n, c_int32) for n in ("left_shift", "output_offset")),
        *((n, c_int32) for n in ("output_multiplier", "output_shift")),
        ("activation", Activation),
    )


@st.composite
def pairs(draw) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """(shape of the result, of a, of b); now and then a last axis longer than a chunk."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    shape[-1] = draw(st.one_of(st.integers(1, 5), st.integers(60, 200)))
    masks = st.lists(st.booleans(), min_size=len(shape), max_size=len(shape))
    a, b = (
        tuple(n if keep else 1 for n, keep in zip(shape, draw(masks), strict=True))
        for _ in range(2)
    )
    return np.broadcast_shapes(a, b), a, b


def _loops(shape, a, b) -> Loops:
    """One loop per axis: nothing merged, so that every step occurs."""
    steps = [
        [0 if n == 1 else int(np.prod(operand[i + 1 :])) for i, n in enumerate(operand)]
        for operand in (a, b)
    ]
    return Loops(len(shape), ints(shape), *map(ints, steps))


def _offset(rng) -> int:
    return int(rng.integers(-127, 129))


def _both(glue, name, rng, shapes, params, expected, first_only=False):
    """The kernel gives what is expected of (a, b), also in place where an operand is whole."""
    shape, a_shape, b_shape = shapes
    a, b = codes(rng, *a_shape), codes(rng, *b_shape)
    loops, want = _loops(*shapes), expected(a, b)
    assert want.shape == shape
    got = glue.run(name, loops, params, a, b, ..., size=want.size)
    np.testing.assert_array_equal(got, want.ravel())
    for operand in (a,) if first_only else (a, b):
        if operand.shape == shape:
            assert glue.call(name, loops, params, a, b, operand) == SUCCESS
            np.testing.assert_array_equal(operand, want)
            break


@pytest.mark.parametrize(("name", "sign"), [("add", 1), ("sub", -1)])
@fuzz(rng=generator(), shapes=pairs())
def test_sums_are_the_definition(glue, name, sign, rng, shapes):
    scales = [float(s) for s in np.exp(rng.uniform(-4, 4, 3))]
    twice = 2 * max(scales[:2])
    first, second = ((_offset(rng), *oracle.quantize_multiplier(s / twice)) for s in scales[:2])
    out = (_offset(rng) - 1, *oracle.quantize_multiplier(twice / (2**LEFT_SHIFT * scales[2])))
    clamp = clamp_range(rng)

    def expected(a, b):
        one, two = oracle.add_terms(a, b, first, second, LEFT_SHIFT)
        return oracle.clamp(oracle.requantize(one + sign * two, *out[1:]) + out[0], *clamp)

    params = SumParams(*first, *second, LEFT_SHIFT, *out, Activation(*clamp))
    _both(glue, f"glue_broadcast_{name}_s8", rng, shapes, params, expected)


@fuzz(rng=generator(), shapes=pairs())
def test_product_is_the_definition(glue, rng, shapes):
    multiplier, shift = oracle.quantize_multiplier(float(2 ** rng.uniform(-14, -2)))
    p, q, r, clamp = _offset(rng), _offset(rng), _offset(rng) - 1, clamp_range(rng)

    def expected(a, b):
        product = (a.astype(np.int64) + p) * (b.astype(np.int64) + q)
        return oracle.clamp(oracle.requantize(product, multiplier, shift) + r, *clamp)

    params = ProductParams(p, q, r, multiplier, shift, Activation(*clamp))
    _both(glue, "glue_broadcast_mul_s8", rng, shapes, params, expected)


@fuzz(rng=generator(), shapes=pairs())
def test_quotient_is_the_definition(glue, rng, shapes):
    p, r, clamp = _offset(rng), _offset(rng) - 1, clamp_range(rng)
    zero, ratio = int(rng.integers(-128, 128)), float(np.exp(rng.uniform(-8, 8)))
    divisor = np.arange(-128.0, 128.0) - zero
    with np.errstate(divide="ignore"):
        table = np.clip(np.rint(2.0**QUOTIENT_SHIFT * ratio / divisor), -LARGEST, LARGEST)

    def expected(a, b):
        product = (a.astype(np.int64) + p) * table.astype(np.int64)[b.astype(np.int64) + 128]
        half = 1 << (QUOTIENT_SHIFT - 1)
        return oracle.clamp(((product + half) >> QUOTIENT_SHIFT) + r, *clamp)

    params = QuotientParams(p, r, ints(table), Activation(*clamp))
    _both(glue, "glue_broadcast_div_s8", rng, shapes, params, expected)


@fuzz(rng=generator(), shapes=pairs())
def test_prelu_is_the_definition(glue, rng, shapes):
    shape, _, slope_shape = shapes
    p, q, r = _offset(rng), _offset(rng), _offset(rng) - 1
    positive = oracle.quantize_multiplier(float(2 ** rng.uniform(-8, 12)))
    negative = oracle.quantize_multiplier(float(2 ** rng.uniform(-14, 6)))

    def expected(x, slope):
        value = x.astype(np.int64) + p
        product = value * (slope.astype(np.int64) + q)
        scaled = np.where(
            value >= 0, oracle.requantize(value, *positive), oracle.requantize(product, *negative)
        )
        return oracle.clamp(scaled + r)

    params = PreluParams(p, q, r, *positive, *negative)
    _both(glue, "glue_prelu_s8", rng, (shape, shape, slope_shape), params, expected, True)


@pytest.mark.parametrize("name", ["broadcast_add", "broadcast_sub", "broadcast_mul"])
def test_errors_of_a_row_come_through(glue, name):
    """A left shift out of range is refused by the row, dimensions and ranks by the walk."""
    x, one, zero = np.zeros(1, np.int8), ints([1]), ints([0])
    params = SumParams() if name != "broadcast_mul" else ProductParams()
    if name != "broadcast_mul":
        bad = SumParams(left_shift=23)
        loops = Loops(1, one, one, one)
        assert glue.call(f"glue_{name}_s8", loops, bad, x, x, x.copy()) == ARGUMENT_ERROR
    for loops in (
        Loops(0, one, one, one),
        Loops(MAX_RANK + 1, *[ints([1] * (MAX_RANK + 1))] * 3),
        Loops(1, zero, one, one),
    ):
        assert glue.call(f"glue_{name}_s8", loops, params, x, x, x.copy()) == ARGUMENT_ERROR


@fuzz(rng=generator(), size=st.integers(0, 40))
@pytest.mark.parametrize("largest", [0, 1])
def test_extremes_are_numpys(glue, largest, rng, size):
    a, b = codes(rng, size), codes(rng, size)
    expected = np.maximum(a, b) if largest else np.minimum(a, b)
    got = glue.run("glue_extreme_s8", a, b, largest, ..., size, size=size)
    np.testing.assert_array_equal(got, expected)
    for target in (a.copy(), b.copy()):
        operands = (target, b) if (target == a).all() else (a, target)
        assert glue.call("glue_extreme_s8", *operands, largest, target, size) == SUCCESS
        np.testing.assert_array_equal(target, expected)


@fuzz(rng=generator(), count=st.integers(1, 9), size=st.integers(0, 40))
def test_sum_of_many_is_the_definition(glue, rng, count, size):
    terms = [codes(rng, size) for _ in range(count)]
    scales = [float(s) for s in np.exp(rng.uniform(-4, 4, count + 1))]
    unit = max(scales[:count]) * 2 ** (count - 1).bit_length()
    factors = [oracle.quantize_multiplier(s / unit) for s in scales[:count]]
    offsets = [_offset(rng) for _ in range(count)]
    out = oracle.quantize_multiplier(min(unit / (2**LEFT_SHIFT * scales[-1]), 2.0))
    offset, clamp = _offset(rng) - 1, clamp_range(rng)
    total = np.zeros(size, np.int64)
    for term, o, factor in zip(terms, offsets, factors, strict=True):
        total += oracle.requantize((term.astype(np.int64) + o) << LEFT_SHIFT, *factor)
    expected = oracle.clamp(oracle.requantize(total, *out) + offset, *clamp)
    multipliers, shifts = zip(*factors, strict=True)
    params = TermsParams(
        count, *map(ints, (offsets, multipliers, shifts)), LEFT_SHIFT, offset, *out,
        Activation(*clamp),
    )  # fmt: skip
    pointers = (ctypes.c_void_p * count)(*[t.ctypes.data for t in terms])
    got = glue.run("glue_sum_s8", params, pointers, ..., size, size=size)
    np.testing.assert_array_equal(got, expected)
    last = terms[-1]  # in place
    assert glue.call("glue_sum_s8", params, pointers, last, size) == SUCCESS
    np.testing.assert_array_equal(last, expected)


def test_numbers_out_of_range_are_refused(glue):
    x = np.zeros(4, np.int8)
    assert glue.call("glue_extreme_s8", x, x, 1, x, -1) == ARGUMENT_ERROR
    pointers, one = (ctypes.c_void_p * 1)(x.ctypes.data), ints([0])
    for params, size in (
        (TermsParams(1, one, one, one), -1),
        (TermsParams(0, one, one, one), 4),
        (TermsParams(1, one, one, one, -1), 4),
        (TermsParams(1, one, one, one, 23), 4),
    ):
        assert glue.call("glue_sum_s8", params, pointers, x, size) == ARGUMENT_ERROR
