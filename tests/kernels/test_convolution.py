"""Convolution and depthwise convolution against numpy and against CMSIS-NN 4.0.0."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import (
    Pair,
    Window,
    clamp_range,
    codes,
    fuzz,
    generator,
    scales,
    weights,
    window,
)
from tests.kernels.limits import convolution_limits, depthwise_limits
from tests.kernels.native import (
    ARGUMENT_ERROR,
    CONTEXT,
    Activation,
    ConvParams,
    DepthwiseParams,
    Dims,
    PerChannel,
    ints,
    tile,
)


@dataclass(frozen=True)
class Call:
    """One random layer: what the kernel gets and what it must answer."""

    function: str
    params: Any
    quant: PerChannel
    input_dims: Dims
    x: np.ndarray
    filter_dims: Dims
    w: np.ndarray
    bias: np.ndarray | None
    output_dims: Dims
    expected: np.ndarray

    def run(self, library: Any, scratch: int | None) -> np.ndarray:
        got = library.run(
            self.function,
            CONTEXT,
            self.params,
            self.quant,
            self.input_dims,
            self.x,
            self.filter_dims,
            self.w,
            Dims(n=1, h=1, w=1, c=self.output_dims.c),
            self.bias,
            self.output_dims,
            ...,
            size=self.expected.size,
            scratch=scratch,
        )
        return got.reshape(self.expected.shape)

    def scratch(self, library: Any) -> int:
        return library.call(
            f"{self.function}_get_buffer_size",
            self.params,
            self.input_dims,
            self.filter_dims,
            self.output_dims,
        )


def _offsets(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(-127, 129)), int(rng.integers(-128, 128))


def _finish(acc, rng, multiplier, shift, output_offset, low, high):
    return oracle.clamp(oracle.requantize(acc, multiplier, shift) + output_offset, low, high)


def convolution(
    shape: Window, rng: np.random.Generator, groups: int, per_group: Pair, bias: bool
) -> Call:
    c_in, c_out = groups * per_group[0], groups * per_group[1]
    x = codes(rng, shape.batch, *shape.size, c_in)
    w = weights(rng, c_out, *shape.kernel, per_group[0])
    b = rng.integers(-5000, 5000, c_out, dtype=np.int32) if bias else None
    multiplier, shift = scales(rng, c_out, 3000.0 * np.sqrt(w[0].size))
    offset, output_offset = _offsets(rng)
    low, high = clamp_range(rng)
    acc = oracle.convolve(
        x, w, 0 if b is None else b, offset, shape.out, shape.stride, shape.padding, shape.dilation
    )
    return Call(
        "arm_convolve_wrapper_s8",
        ConvParams(
            offset,
            output_offset,
            tile(shape.stride),
            tile(shape.padding),
            tile(shape.dilation),
            Activation(low, high),
        ),
        PerChannel(ints(multiplier), ints(shift)),
        Dims(*x.shape),
        x,
        Dims(*w.shape),
        w,
        b,
        Dims(shape.batch, *shape.out, c_out),
        _finish(acc, rng, multiplier, shift, output_offset, low, high),
    )


def depthwise(shape: Window, rng: np.random.Generator, c_in: int, factor: int, bias: bool) -> Call:
    c_out = c_in * factor
    x = codes(rng, shape.batch, *shape.size, c_in)
    w = weights(rng, *shape.kernel, c_out)
    b = rng.integers(-5000, 5000, c_out, dtype=np.int32) if bias else None
    multiplier, shift = scales(rng, c_out, 3000.0 * np.sqrt(w[..., 0].size))
    offset, output_offset = _offsets(rng)
    low, high = clamp_range(rng)
    acc = oracle.depthwise(
        x, w, 0 if b is None else b, offset, shape.out, shape.stride, shape.padding, shape.dilation
    )
    return Call(
        "arm_depthwise_conv_wrapper_s8",
        DepthwiseParams(
            offset,
            output_offset,
            factor,
            tile(shape.stride),
            tile(shape.padding),
            tile(shape.dilation),
            Activation(low, high),
        ),
        PerChannel(ints(multiplier), ints(shift)),
        Dims(*x.shape),
        x,
        Dims(1, *w.shape),
        w,
        b,
        Dims(shape.batch, *shape.out, c_out),
        _finish(acc, rng, multiplier, shift, output_offset, low, high),
    )


small_channels = st.tuples(st.integers(1, 9), st.integers(1, 9))


@fuzz(window(), generator(), st.integers(1, 3), small_channels, st.booleans())
def test_convolution_is_the_definition(glue, shape, rng, groups, per_group, bias):
    call = convolution(shape, rng, groups, per_group, bias)
    np.testing.assert_array_equal(call.run(glue, scratch=None), call.expected)
    assert call.scratch(glue) == 0


@fuzz(window(max_batch=1), generator(), small_channels)
def test_convolution_equals_cmsis_nn(cmsis_nn, shape, rng, channels):
    assume(not convolution_limits("scalar", shape, channels[0]))
    call = convolution(shape, rng, 1, channels, bias=True)
    np.testing.assert_array_equal(call.run(cmsis_nn, call.scratch(cmsis_nn)), call.expected)


@fuzz(window(), generator(), st.integers(1, 9), st.integers(1, 3), st.booleans())
def test_depthwise_is_the_definition(glue, shape, rng, c_in, factor, bias):
    call = depthwise(shape, rng, c_in, factor, bias)
    np.testing.assert_array_equal(call.run(glue, scratch=None), call.expected)
    assert call.scratch(glue) == 0


@fuzz(window(max_batch=1), generator(), st.integers(1, 40), st.integers(1, 3))
def test_depthwise_equals_cmsis_nn(cmsis_nn, shape, rng, c_in, factor):
    assume(not depthwise_limits("scalar", shape, factor))
    call = depthwise(shape, rng, c_in, factor, bias=True)
    np.testing.assert_array_equal(call.run(cmsis_nn, call.scratch(cmsis_nn)), call.expected)


def test_contradicting_channels_are_refused(glue):
    shape = Window(1, (4, 4), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1))
    for call, wrong in (
        (convolution(shape, np.random.default_rng(0), 1, (4, 4), True), Dims(4, 3, 3, 3)),
        (depthwise(shape, np.random.default_rng(0), 4, 2, True), Dims(1, 4, 4, 7)),
    ):
        filter_dims, output_dims = (
            (wrong, call.output_dims) if wrong.c == 3 else (call.filter_dims, wrong)
        )
        status = glue.call(
            call.function,
            None,
            call.params,
            call.quant,
            call.input_dims,
            call.x,
            filter_dims,
            call.w,
            None,
            call.bias,
            output_dims,
            np.zeros(1000, np.int8),
        )
        assert status == ARGUMENT_ERROR
