"""Matrix products of two activations against numpy."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import clamp_range, codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, Activation, Structure, c_int32

sizes = st.tuples(*(st.integers(1, 4) for _ in range(3)), *(st.integers(1, 7) for _ in range(3)))


class MatmulParams(Structure):
    _fields_ = (
        *((n, c_int32) for n in ("a_offset", "b_offset", "output_offset", "multiplier", "shift")),
        ("activation", Activation),
        ("batch", c_int32 * 3),
        ("rows", c_int32),
        ("columns", c_int32),
        ("depth", c_int32),
        ("a_step", c_int32 * 5),
        ("b_step", c_int32 * 5),
    )


def _operand(rng, batch, rows, columns):
    """A tensor in a random layout and as it is multiplied, with the steps of its axes."""
    shape = (*(n if rng.integers(3) else 1 for n in batch), rows, columns)
    order = rng.permutation(5)
    stored = codes(rng, *(shape[i] for i in order))
    view = stored.transpose(np.argsort(order))
    return stored, view, [0 if n == 1 else s for n, s in zip(shape, view.strides, strict=True)]


@fuzz(generator(), sizes, st.booleans())
def test_matmul_is_numpys(glue, rng, sizes, with_bias):
    *batch, rows, columns, depth = sizes
    (a, a_view, a_step), (b, b_view, b_step) = (
        _operand(rng, batch, *matrix) for matrix in ((rows, depth), (depth, columns))
    )
    offsets = [int(n) for n in rng.integers(-127, 129, 2)]
    bias = rng.integers(-5000, 5000, columns, dtype=np.int32) if with_bias else None
    real = 2.0 ** rng.uniform(-3, 1) / (5000 * np.sqrt(depth)) * 100
    quant = oracle.quantize_multiplier(real)
    low, high = clamp_range(rng)
    acc = (a_view.astype(np.int64) + offsets[0]) @ (b_view.astype(np.int64) + offsets[1])
    acc = np.broadcast_to(acc, (*batch, rows, columns)) + (0 if bias is None else bias)
    expected = oracle.clamp(oracle.requantize(acc, *quant) - 3, low, high)
    params = MatmulParams(
        *offsets, -3, *quant, Activation(low, high), (c_int32 * 3)(*batch), rows, columns, depth,
        (c_int32 * 5)(*a_step), (c_int32 * 5)(*b_step[:3], b_step[4], b_step[3]),
    )  # fmt: skip
    got = glue.run("glue_matmul_s8", params, a, b, bias, ..., size=expected.size)
    np.testing.assert_array_equal(got.reshape(expected.shape), expected)


@pytest.mark.parametrize("field", ["rows", "columns", "depth", "batch"])
def test_empty_matrices_are_refused(glue, field):
    params = MatmulParams(rows=1, columns=1, depth=1, batch=(c_int32 * 3)(1, 1, 1))
    setattr(params, field, (c_int32 * 3)(1, 0, 1) if field == "batch" else 0)
    x = np.zeros(1, np.int8)
    assert glue.call("glue_matmul_s8", params, x, x, None, x.copy()) == ARGUMENT_ERROR
