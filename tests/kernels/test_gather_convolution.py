"""Grouped and transposed convolution against numpy."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import clamp_range, codes, fuzz, generator, pair, scales, weights, window
from tests.kernels.native import (
    ARGUMENT_ERROR,
    Activation,
    ConvParams,
    Dims,
    PerChannel,
    ints,
    tile,
)
from tests.kernels.test_convolution import convolution

small_channels = st.tuples(st.integers(1, 5), st.integers(1, 5))


def _run(glue, name, params, quant, x, w, bias, out):
    dims = Dims(*x.shape), Dims(*w.shape), Dims(*out)
    size = int(np.prod(out))
    got = glue.run(name, params, quant, dims[0], x, dims[1], w, bias, dims[2], ..., size=size)
    return got.reshape(out)


@fuzz(window(), generator(), st.integers(1, 4), small_channels, st.booleans())
def test_grouped_convolution_is_the_definition(glue, shape, rng, groups, per_group, bias):
    call = convolution(shape, rng, groups, per_group, bias)
    got = _run(
        glue, "glue_group_conv_s8", call.params, call.quant, call.x, call.w, call.bias,
        call.expected.shape,
    )  # fmt: skip
    np.testing.assert_array_equal(got, call.expected)


def _spread(x, w, bias, offset, out, stride, padding, dilation):
    """Accumulators of a transposed convolution: every input cell added where it goes."""
    n, height, width, channels = x.shape
    c_out, kh, kw, depth = w.shape
    groups = channels // depth
    acc = np.zeros((n, *out, c_out), np.int64) + bias
    for iy, ix, ky, kx in np.ndindex(height, width, kh, kw):
        oy = iy * stride[0] + ky * dilation[0] - padding[0]
        ox = ix * stride[1] + kx * dilation[1] - padding[1]
        if not (0 <= oy < out[0] and 0 <= ox < out[1]):
            continue
        cells = (x[:, iy, ix].astype(np.int64) + offset).reshape(n, groups, depth)
        taps = w[:, ky, kx].astype(np.int64).reshape(groups, c_out // groups, depth)
        acc[:, oy, ox] += np.einsum("ngi,goi->ngo", cells, taps).reshape(n, c_out)
    return acc


geometry = st.tuples(pair(1, 4), pair(1, 4), pair(1, 3), pair(-2, 3), pair(1, 9), pair(1, 4))


@fuzz(geometry, generator(), st.integers(1, 3), small_channels, st.booleans(), st.integers(1, 2))
def test_transposed_convolution_is_the_definition(
    glue, geometry, rng, groups, per_group, bias, batch
):
    kernel, stride, dilation, padding, out, size = geometry
    x = codes(rng, batch, *size, groups * per_group[0])
    w = weights(rng, groups * per_group[1], *kernel, per_group[0])
    b = rng.integers(-5000, 5000, len(w), dtype=np.int32) if bias else None
    multiplier, shift = scales(rng, len(w), 3000.0 * np.sqrt(w[0].size))
    offset, output_offset = int(rng.integers(-127, 129)), int(rng.integers(-128, 128))
    low, high = clamp_range(rng)
    acc = _spread(x, w, 0 if b is None else b, offset, out, stride, padding, dilation)
    expected = oracle.clamp(oracle.requantize(acc, multiplier, shift) + output_offset, low, high)
    params = ConvParams(
        offset, output_offset, tile(stride), tile(padding), tile(dilation), Activation(low, high)
    )
    quant = PerChannel(ints(multiplier), ints(shift))
    got = _run(glue, "glue_transpose_conv_s8", params, quant, x, w, b, expected.shape)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["glue_group_conv_s8", "glue_transpose_conv_s8"])
@pytest.mark.parametrize("wrong", ["channels", "outputs", "stride", "dilation"])
def test_contradictions_are_refused(glue, name, wrong):
    x, w = np.zeros((1, 2, 2, 4), np.int8), np.zeros((4, 1, 1, 2), np.int8)
    dims = [Dims(1, 2, 2, 4), Dims(4, 1, 1, 2), Dims(1, 2, 2, 4)]
    one = tile((1, 1))
    stride, dilation = (tile((0, 1)) if wrong == n else one for n in ("stride", "dilation"))
    if wrong == "channels":
        dims[0].c = 3
    if wrong == "outputs":
        dims[2].c = 3
    params = ConvParams(0, 0, stride, tile((0, 0)), dilation, Activation(-128, 127))
    quant = PerChannel(ints([1 << 30] * 4), ints([0] * 4))
    status = glue.call(name, params, quant, dims[0], x, dims[1], w, None, dims[2], x.copy())
    assert status == ARGUMENT_ERROR
