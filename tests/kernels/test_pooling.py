"""Poolings against numpy and against CMSIS-NN 4.0.0."""

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import Window, clamp_range, codes, fuzz, generator, window
from tests.kernels.native import (
    ARGUMENT_ERROR,
    CONTEXT,
    Activation,
    AvgpoolParams,
    Dims,
    PoolParams,
    ints,
    tile,
)

CODE_POOLS = {"arm_avgpool_s8": oracle.average_codes, "arm_max_pool_s8": oracle.max_pool}
pools = window(max_dilation=1, pooling=True)


def _geometry(shape: Window):
    return shape.out, shape.kernel, shape.stride, shape.padding


def _dims(shape: Window, channels: int):
    """Dimensions of input, window and output."""
    size, out = (shape.batch, *shape.size, channels), (shape.batch, *shape.out, channels)
    return Dims(*size), Dims(1, *shape.kernel, 1), Dims(*out)


def _every_window_meets_the_image(shape: Window) -> bool:
    return bool(oracle.inside(shape.size, *_geometry(shape)).any(axis=(2, 3)).all())


def _code_pool(library, name, shape, rng, channels, scratch):
    x = codes(rng, shape.batch, *shape.size, channels)
    low, high = clamp_range(rng)
    expected = oracle.clamp(CODE_POOLS[name](x, *_geometry(shape)), low, high)
    params = PoolParams(tile(shape.stride), tile(shape.padding), Activation(low, high))
    dims = _dims(shape, channels)
    got = library.run(
        name,
        CONTEXT,
        params,
        dims[0],
        x,
        dims[1],
        dims[2],
        ...,
        size=expected.size,
        scratch=scratch,
    )
    np.testing.assert_array_equal(got.reshape(expected.shape), expected)


@pytest.mark.parametrize("name", CODE_POOLS)
@fuzz(shape=pools, rng=generator(), channels=st.integers(1, 9))
def test_pool_is_the_definition(glue, name, shape, rng, channels):
    assume(_every_window_meets_the_image(shape))
    _code_pool(glue, name, shape, rng, channels, scratch=None)
    assert glue.call("arm_avgpool_s8_get_buffer_size", shape.out[1], channels) == 0


@pytest.mark.parametrize("name", CODE_POOLS)
@fuzz(
    shape=window(max_batch=1, max_dilation=1, pooling=True),
    rng=generator(),
    channels=st.integers(1, 9),
)
def test_pool_equals_cmsis_nn(cmsis_nn, name, shape, rng, channels):
    assume(_every_window_meets_the_image(shape))
    _code_pool(cmsis_nn, name, shape, rng, channels, scratch=0)


def _counts(shape: Window, include_pad: bool) -> np.ndarray:
    """Cells that count per window, [OH, OW]: of the image, or of the image with its padding."""
    if not include_pad:
        return oracle.inside(shape.size, *_geometry(shape)).sum(axis=(2, 3))
    padded = tuple(n + p + e for n, p, e in zip(shape.size, shape.padding, shape.end, strict=True))
    return oracle.inside(padded, shape.out, shape.kernel, shape.stride, (0, 0)).sum(axis=(2, 3))


def _rescaling_pool(shape, rng, include_pad, single_entry):
    counts = _counts(shape, include_pad)
    size = 1 if single_entry else shape.kernel[0] * shape.kernel[1]
    ratio = float(2 ** rng.uniform(-3, 3))
    entries = [
        oracle.quantize_multiplier(ratio / (counts.max() if single_entry else k + 1))
        for k in range(size)
    ]
    multipliers, shifts = np.array(entries, np.int64).T
    index = np.zeros_like(counts) if single_entry else counts - 1
    low, high = clamp_range(rng)
    params = AvgpoolParams(
        int(rng.integers(-127, 129)),
        int(rng.integers(-128, 128)),
        tile(shape.stride),
        tile(shape.padding),
        tile(shape.end),
        Activation(low, high),
        int(include_pad),
        size,
        ints(multipliers),
        ints(shifts),
    )
    per_window = multipliers[index][None, :, :, None], shifts[index][None, :, :, None]
    return params, per_window


def _ceil_mode(shape: Window, extra: bool) -> Window:
    """One more output row where ceil_mode adds one: its window starts inside the image."""
    start = shape.out[0] * shape.stride[0] - shape.padding[0]
    if not extra or start >= shape.size[0]:
        return shape
    return _Taller(**{name: getattr(shape, name) for name in shape.__dataclass_fields__})


class _Taller(Window):
    @property
    def out(self):
        height, width = super().out
        return height + 1, width


@fuzz(pools, generator(), st.integers(1, 9), st.booleans(), st.booleans(), st.booleans())
def test_rescaling_average_is_the_definition(
    glue, shape, rng, channels, include_pad, single_entry, ceil_mode
):
    shape = _ceil_mode(shape, ceil_mode)
    assume(_every_window_meets_the_image(shape))
    params, per_window = _rescaling_pool(shape, rng, include_pad, single_entry)
    x = codes(rng, shape.batch, *shape.size, channels)
    cells = oracle.windows(
        x.astype(np.int64) + params.input_offset,
        shape.out,
        shape.kernel,
        shape.stride,
        shape.padding,
        (1, 1),
    )
    acc = oracle.requantize(cells.sum(axis=(3, 4)), *per_window) + params.output_offset
    expected = oracle.clamp(acc, params.activation.min, params.activation.max)
    dims = _dims(shape, channels)
    got = glue.run("glue_avgpool_s8", params, dims[0], x, dims[1], dims[2], ..., size=expected.size)
    np.testing.assert_array_equal(got.reshape(expected.shape), expected)


def test_a_count_beyond_the_table_is_refused(glue):
    shape = Window(1, (4, 4), (2, 2), (2, 2), (0, 0), (0, 0), (1, 1))
    params, _ = _rescaling_pool(shape, np.random.default_rng(0), False, False)
    params.table_size = 3
    x, y = np.zeros((1, 4, 4, 1), np.int8), np.zeros(4, np.int8)
    dims = _dims(shape, 1)
    assert glue.call("glue_avgpool_s8", params, dims[0], x, dims[1], dims[2], y) == ARGUMENT_ERROR


@pytest.mark.parametrize("name", CODE_POOLS)
def test_a_window_outside_the_image_is_refused(glue, name):
    params = PoolParams(tile((2, 2)), tile((0, 0)), Activation(-128, 127))
    x = np.zeros((1, 2, 2, 1), np.int8)
    dims = Dims(1, 2, 2, 1), Dims(1, 2, 2, 1), Dims(1, 2, 1, 1)
    assert glue.call(name, None, params, dims[0], x, dims[1], dims[2], x.copy()) == ARGUMENT_ERROR
