"""Fully connected layers, per tensor and per channel, against numpy and against CMSIS-NN 4.0.0."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import clamp_range, codes, fuzz, generator, scales, weights
from tests.kernels.native import (
    ARGUMENT_ERROR,
    CONTEXT,
    Activation,
    Dims,
    FcParams,
    PerChannel,
    PerTensor,
    ints,
)

sizes = st.tuples(st.integers(1, 3), st.integers(1, 40), st.integers(1, 12))


def _layer(rng, size, bias, per_channel):
    """Arguments of one call, the number of outputs and the codes it must give."""
    rows, depth, channels = size
    x, w = codes(rng, rows, depth), weights(rng, channels, depth)
    b = rng.integers(-5000, 5000, channels, dtype=np.int32) if bias else None
    multiplier, shift = scales(rng, channels if per_channel else 1, 3000.0 * np.sqrt(depth))
    input_offset, output_offset = int(rng.integers(-127, 129)), int(rng.integers(-128, 128))
    low, high = clamp_range(rng)
    acc = (x.astype(np.int64) + input_offset) @ w.T.astype(np.int64) + (0 if b is None else b)
    expected = oracle.clamp(oracle.requantize(acc, multiplier, shift) + output_offset, low, high)
    quant = (
        PerChannel(ints(multiplier), ints(shift))
        if per_channel
        else PerTensor(multiplier[0], shift[0])
    )
    params = FcParams(input_offset, 0, output_offset, Activation(low, high))
    dims = Dims(rows, 1, 1, depth), Dims(depth, 1, 1, channels), Dims(rows, 1, 1, channels)
    arguments = (
        CONTEXT,
        params,
        quant,
        dims[0],
        x,
        dims[1],
        w,
        Dims(1, 1, 1, channels),
        b,
        dims[2],
        ...,
    )
    return arguments, expected


@pytest.mark.parametrize("per_channel", [False, True])
@fuzz(rng=generator(), size=sizes, bias=st.booleans())
def test_fully_connected_is_the_definition(glue, rng, size, bias, per_channel):
    name = "arm_fully_connected_per_channel_s8" if per_channel else "arm_fully_connected_s8"
    arguments, expected = _layer(rng, size, bias, per_channel)
    got = glue.run(name, *arguments, size=expected.size)
    np.testing.assert_array_equal(got, expected.ravel())


@fuzz(rng=generator(), size=sizes, bias=st.booleans())
def test_fully_connected_equals_cmsis_nn(cmsis_nn, rng, size, bias):
    arguments, expected = _layer(rng, size, bias, per_channel=False)
    got = cmsis_nn.run("arm_fully_connected_s8", *arguments, size=expected.size, scratch=0)
    np.testing.assert_array_equal(got, expected.ravel())


@pytest.mark.parametrize("name", ["arm_fully_connected_per_channel_s8", "arm_fully_connected_s8"])
def test_a_filter_offset_is_refused(glue, name):
    arguments, _ = _layer(np.random.default_rng(1), (1, 4, 4), True, "per_channel" in name)
    arguments[1].filter_offset = 1
    assert glue.call(name, None, *arguments[1:-1], np.zeros(4, np.int8)) == ARGUMENT_ERROR
